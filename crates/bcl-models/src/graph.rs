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
    /// The interactions, normalised by the degrees of both ends.
    ///
    /// ```text
    /// R[u, i] = 1 / √(degree(u) · degree(i))   where u and i interact, else 0
    /// ```
    ///
    /// This is the upper right block of `Â = D^-1/2 A D^-1/2 = [[0, R], [Rᵀ, 0]]`, with `A` the adjacency matrix over users and items.
    /// Users and items without an interaction have a row or a column of zeros.
    ///
    /// # Shapes
    /// - output: `[num_users, num_items]`
    ///
    /// # Panics
    /// When an edge names a user or an item that is not there.
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
                "the edge ({user}, {item}) lies outside {} users and {} items",
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
