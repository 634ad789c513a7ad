//! The bipartite graph of users and items, and its propagation matrix.

use bcl_kernels::SparseMatrix;

/// Users, items and the training interactions between them.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Number of users.
    pub num_users: usize,
    /// Number of items.
    pub num_items: usize,
    /// `(user, item)`, each pair once.
    pub edges: Vec<(u32, u32)>,
}

impl Graph {
    /// The interactions as a sparse matrix, normalised by the degrees of user and item.
    ///
    /// ```text
    /// R[u, i] = 1 / √(degree(u) · degree(i))   if u and i interact, else 0
    /// ```
    ///
    /// This is the upper right block of `Â = D^-1/2 A D^-1/2 = [[0, R], [Rᵀ, 0]]`, with `A` the adjacency matrix over users and items.
    /// Users and items without interactions have a row or column of zeros.
    ///
    /// # Shapes
    /// - output: `[num_users, num_items]`
    ///
    /// # Panics
    /// Panics if an edge names a user or item outside the graph.
    ///
    /// # Example
    /// ```
    /// use bcl_models::Graph;
    ///
    /// let graph = Graph { num_users: 2, num_items: 2, edges: vec![(0, 0), (0, 1), (1, 1)] };
    ///
    /// assert_eq!(graph.normalised().values(), [0.5f32.sqrt(), 0.5, 0.5f32.sqrt()]);
    /// ```
    pub fn normalised(&self) -> SparseMatrix {
        let mut user_degrees = vec![0u32; self.num_users];
        let mut item_degrees = vec![0u32; self.num_items];
        for &(user, item) in &self.edges {
            assert!(
                (user as usize) < self.num_users && (item as usize) < self.num_items,
                "the edge ({user}, {item}) is outside the graph of {} users and {} items",
                self.num_users,
                self.num_items
            );
            user_degrees[user as usize] += 1;
            item_degrees[item as usize] += 1;
        }
        let entries = self.edges.iter().map(|&(user, item)| {
            let degrees = f64::from(user_degrees[user as usize]) * f64::from(item_degrees[item as usize]);
            (user, item, degrees.sqrt().recip() as f32)
        });
        SparseMatrix::from_triplets(self.num_users, self.num_items, entries)
    }
}
