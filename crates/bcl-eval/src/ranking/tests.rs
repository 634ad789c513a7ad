//! The evaluator against values computed by hand, a slow reference, and itself with other block sizes and thread counts.

use super::{ItemOrder, RankingError, RankingEvaluator, Scorer, TopItems, top_items};
use bcl_data::Interactions;
use bcl_report::result::Metrics;
use proptest::prelude::*;

/// A scorer with a full table of scores.
#[derive(Debug, Clone)]
struct Table {
    num_items: usize,
    scores: Vec<f32>,
}

impl Scorer for Table {
    fn num_items(&self) -> usize {
        self.num_items
    }

    fn score(&self, users: &[u32], out: &mut Vec<f32>) {
        out.clear();
        for &user in users {
            let start = user as usize * self.num_items;
            out.extend(&self.scores[start..start + self.num_items]);
        }
    }
}

/// Three users and six items. User 0 has training item 0, is recommended 1, 2, 3, 4, 5 in this order, and has held-out items 2 and 5.
/// User 1 has training item 5, is recommended 4, 3, 2, 1, 0, and has held-out item 0. User 2 has no held-out items.
fn two_users() -> (Interactions, Interactions, Table) {
    let train = Interactions::from_pairs(3, 6, [(0, 0), (1, 5), (2, 5)]);
    let held_out = Interactions::from_pairs(3, 6, [(0, 2), (0, 5), (1, 0)]);
    let scores = vec![
        9.0,
        5.0,
        4.0,
        3.0,
        2.0,
        1.0, //
        0.0,
        1.0,
        2.0,
        3.0,
        4.0,
        9.0, //
        f32::NAN,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    ];
    (train, held_out, Table { num_items: 6, scores })
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "found {found}, expected {expected}");
}

#[test]
fn figures_equal_those_computed_by_hand() {
    let (train, held_out, table) = two_users();
    let metrics = RankingEvaluator::new(&[5, 2, 1, 2], &train, &held_out)
        .evaluate(&table)
        .unwrap();
    assert_eq!(metrics.len(), 3 * 9);

    let mean = f64::midpoint;
    // User 0 has hits at ranks 2 and 5, user 1 at rank 5. User 2 has no held-out items and is skipped, despite a NaN score.
    assert_close(metrics["precision@1"], 0.0);
    assert_close(metrics["precision@2"], mean(0.5, 0.0));
    assert_close(metrics["precision@5"], mean(0.4, 0.2));
    assert_close(metrics["recall@2"], mean(0.5, 0.0));
    assert_close(metrics["recall@5"], 1.0);
    assert_close(metrics["hit_rate@2"], 0.5);
    assert_close(metrics["hit_rate@5"], 1.0);
    assert_close(metrics["mrr@2"], mean(1.0 / 2.0, 0.0));
    assert_close(metrics["mrr@5"], mean(1.0 / 2.0, 1.0 / 5.0));
    // min(k, held-out) is 2 for user 0 and 1 for user 1.
    assert_close(metrics["map@2"], mean(0.5 / 2.0, 0.0));
    assert_close(metrics["map@5"], mean(mean(0.5, 2.0 / 5.0), 1.0 / 5.0));
    let discount = |rank: f64| 1.0 / (rank + 1.0).log2();
    let ideal = discount(1.0) + discount(2.0);
    assert_close(metrics["ndcg@2"], mean(discount(2.0) / ideal, 0.0));
    assert_close(
        metrics["ndcg@5"],
        mean((discount(2.0) + discount(5.0)) / ideal, discount(5.0)),
    );
    // The lists are [1, 2] and [4, 3]: four of six items, once each. Of the training items, 0 occurs once and 5 twice.
    assert_close(metrics["coverage@2"], 4.0 / 6.0);
    assert_close(metrics["gini@2"], 1.0 / 3.0);
    assert_close(metrics["mean_popularity@2"], 0.0);
    assert_close(metrics["coverage@5"], 1.0);
    assert_close(metrics["mean_popularity@5"], (2.0 + 1.0) / 10.0);
}

#[test]
fn the_ideal_ndcg_at_one_has_one_item() {
    let train = Interactions::from_pairs(1, 4, []);
    let held_out = Interactions::from_pairs(1, 4, [(0, 0), (0, 1), (0, 2)]);
    let table = Table {
        num_items: 4,
        scores: vec![4.0, 3.0, 2.0, 1.0],
    };
    let metrics = RankingEvaluator::new(&[1], &train, &held_out).evaluate(&table).unwrap();
    assert_eq!(metrics["ndcg@1"], 1.0);
    assert_eq!(metrics["map@1"], 1.0);
    assert_close(metrics["recall@1"], 1.0 / 3.0);
}

#[test]
fn cutoffs_beyond_the_catalogue_rank_all_there_is() {
    let (train, held_out, table) = two_users();
    let metrics = RankingEvaluator::new(&[100], &train, &held_out).evaluate(&table).unwrap();
    assert_eq!(metrics["recall@100"], 1.0);
    assert_close(metrics["precision@100"], 0.015);
}

#[test]
fn held_out_items_that_were_trained_on_do_not_count() {
    let train = Interactions::from_pairs(2, 3, [(0, 0), (1, 0)]);
    let held_out = Interactions::from_pairs(2, 3, [(0, 0), (0, 1), (1, 0)]);
    let table = Table {
        num_items: 3,
        scores: vec![3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
    };
    let evaluator = RankingEvaluator::new(&[1], &train, &held_out);
    assert_eq!(evaluator.num_evaluated_users(), 1);
    assert_eq!(evaluator.evaluate(&table).unwrap()["recall@1"], 1.0);
}

#[test]
fn a_score_that_is_not_a_number_is_an_error_that_names_it() {
    let (train, held_out, mut table) = two_users();
    table.scores[6 + 3] = f32::NAN;
    let evaluator = RankingEvaluator::new(&[2], &train, &held_out);
    let error = RankingError::NotANumber { user: 1, item: 3 };
    assert_eq!(evaluator.evaluate(&table), Err(error.clone()));
    assert!(error.to_string().contains("user 1 for item 3"));
    assert_eq!(
        top_items(&table, &train, 2, 1),
        Err(RankingError::NotANumber { user: 2, item: 0 })
    );
}

#[test]
fn an_empty_test_set_is_an_error() {
    let (train, _, table) = two_users();
    let nothing = Interactions::from_pairs(3, 6, []);
    let evaluator = RankingEvaluator::new(&[2], &train, &nothing);
    assert_eq!(evaluator.evaluate(&table), Err(RankingError::NothingHeldOut));
}

#[test]
#[should_panic(expected = "cutoffs are [5, 0]")]
fn a_cutoff_of_zero_is_refused() {
    let (train, held_out, _) = two_users();
    RankingEvaluator::new(&[5, 0], &train, &held_out);
}

#[test]
fn recommendations_leave_out_training_items() {
    let (train, _, table) = two_users();
    let best = top_items(&table, &train, 1, 2).unwrap();
    let best: Vec<_> = best.iter().map(|ranked| (ranked.item, ranked.score)).collect();
    assert_eq!(best, [(4, 4.0), (3, 3.0)]);
}

/// Every metric by its definition, from fully sorted lists, one user at a time.
fn slow_reference(cutoffs: &[usize], train: &Interactions, held_out: &Interactions, table: &Table) -> Metrics {
    let num_items = train.num_items();
    let mut metrics = Metrics::new();
    for &k in cutoffs {
        let mut per_user: Vec<[f64; 6]> = Vec::new();
        let mut recommended: Vec<u32> = Vec::new();
        for user in 0..train.num_users() as u32 {
            let relevant: Vec<u32> = held_out
                .items_of(user)
                .iter()
                .copied()
                .filter(|&item| !train.contains(user, item))
                .collect();
            if relevant.is_empty() {
                continue;
            }
            let score = |item: u32| table.scores[user as usize * num_items + item as usize];
            let mut list: Vec<u32> = (0..num_items as u32).filter(|&item| !train.contains(user, item)).collect();
            list.sort_by(|&a, &b| score(b).partial_cmp(&score(a)).unwrap().then(a.cmp(&b)));
            list.truncate(k);
            recommended.extend(&list);

            let hits_within = |rank: usize| list[..rank].iter().filter(|item| relevant.contains(item)).count() as f64;
            let hit_ranks: Vec<usize> = (1..=list.len()).filter(|rank| relevant.contains(&list[rank - 1])).collect();
            let discount = |rank: &usize| 1.0 / ((rank + 1) as f64).log2();
            let attainable = k.min(relevant.len());
            per_user.push([
                hit_ranks.len() as f64 / k as f64,
                hit_ranks.len() as f64 / relevant.len() as f64,
                hit_ranks.iter().map(discount).sum::<f64>() / (1..=attainable).map(|rank| discount(&rank)).sum::<f64>(),
                f64::from(!hit_ranks.is_empty()),
                hit_ranks.first().map_or(0.0, |&rank| 1.0 / rank as f64),
                hit_ranks.iter().map(|&rank| hits_within(rank) / rank as f64).sum::<f64>() / attainable as f64,
            ]);
        }
        for (index, name) in ["precision", "recall", "ndcg", "hit_rate", "mrr", "map"].iter().enumerate() {
            let mean = per_user.iter().map(|figures| figures[index]).sum::<f64>() / per_user.len() as f64;
            metrics.insert(format!("{name}@{k}"), mean);
        }

        let counts: Vec<f64> = (0..num_items as u32)
            .map(|item| recommended.iter().filter(|&&other| other == item).count() as f64)
            .collect();
        let total: f64 = counts.iter().sum();
        // The other definition of the Gini coefficient: half the relative mean absolute difference.
        let differences: f64 = counts.iter().map(|a| counts.iter().map(|b| (a - b).abs()).sum::<f64>()).sum();
        let n = num_items as f64;
        let train_counts = train.item_counts();
        let popularity: f64 = recommended.iter().map(|&item| f64::from(train_counts[item as usize])).sum();
        metrics.insert(
            format!("coverage@{k}"),
            counts.iter().filter(|&&count| count > 0.0).count() as f64 / n,
        );
        metrics.insert(
            format!("gini@{k}"),
            if total == 0.0 { 0.0 } else { differences / (2.0 * n * total) },
        );
        metrics.insert(
            format!("mean_popularity@{k}"),
            if total == 0.0 { 0.0 } else { popularity / total },
        );
    }
    metrics
}

prop_compose! {
    /// Interactions and scores with many ties and a few infinite scores.
    fn problem()(num_users in 1_usize..12, num_items in 1_usize..40)(
        train in prop::collection::vec((0..num_users as u32, 0..num_items as u32), 0..60),
        held_out in prop::collection::vec((0..num_users as u32, 0..num_items as u32), 1..60),
        scores in prop::collection::vec(
            prop_oneof![20 => (-5_i8..5).prop_map(f32::from), 1 => Just(f32::INFINITY), 1 => Just(f32::NEG_INFINITY)],
            num_users * num_items,
        ),
        num_users in Just(num_users),
        num_items in Just(num_items),
    ) -> (Interactions, Interactions, Table) {
        (
            Interactions::from_pairs(num_users, num_items, train),
            Interactions::from_pairs(num_users, num_items, held_out),
            Table { num_items, scores },
        )
    }
}

proptest! {
    #[test]
    fn the_evaluator_equals_the_slow_reference(
        (train, held_out, table) in problem(),
        cutoffs in prop::collection::vec(1_usize..50, 1..4),
    ) {
        let found = RankingEvaluator::new(&cutoffs, &train, &held_out).evaluate(&table);
        let Ok(found) = found else {
            prop_assert_eq!(found, Err(RankingError::NothingHeldOut));
            return Ok(());
        };
        let expected = slow_reference(&cutoffs, &train, &held_out, &table);
        prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, figure) in &found {
            prop_assert!((figure - expected[name]).abs() < 1e-12, "{} is {}, not {}", name, figure, expected[name]);
            prop_assert!(*figure >= 0.0 && (*figure <= 1.0 || name.starts_with("mean_popularity")));
        }
    }

    #[test]
    fn means_over_users_equal_the_metrics((train, held_out, table) in problem(), cutoff in 1_usize..50) {
        let evaluator = RankingEvaluator::new(&[cutoff, 1], &train, &held_out);
        prop_assume!(!evaluator.users().is_empty());
        let metrics = evaluator.evaluate(&table).unwrap();
        let of_users = evaluator.evaluate_users(&table).unwrap();
        prop_assert_eq!(of_users.len(), if cutoff == 1 { 6 } else { 12 });
        for (name, figures) in of_users {
            prop_assert_eq!(figures.len(), evaluator.users().len());
            prop_assert_eq!(figures.iter().sum::<f64>() / figures.len() as f64, metrics[&name]);
        }
    }

    #[test]
    fn blocks_and_threads_do_not_change_a_bit(
        (train, held_out, table) in problem(),
        block_bytes in 0_usize..1000,
    ) {
        let evaluator = RankingEvaluator::new(&[1, 3, 20], &train, &held_out);
        let whole = evaluator.evaluate(&table);
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let evaluator = evaluator.with_block_bytes(block_bytes);
        prop_assert_eq!(&whole, &evaluator.evaluate(&table));
        prop_assert_eq!(&whole, &alone.install(|| evaluator.evaluate(&table)));
    }

    #[test]
    fn a_perfect_ranking_gets_one((train, held_out, mut table) in problem(), cutoff in 1_usize..50) {
        for (index, score) in table.scores.iter_mut().enumerate() {
            let (user, item) = ((index / table.num_items) as u32, (index % table.num_items) as u32);
            *score = f32::from(u8::from(held_out.contains(user, item)));
        }
        if let Ok(metrics) = RankingEvaluator::new(&[cutoff, 40], &train, &held_out).evaluate(&table) {
            for name in ["ndcg", "map", "mrr", "hit_rate"] {
                prop_assert_eq!(metrics[&format!("{name}@{cutoff}")], 1.0);
            }
            prop_assert_eq!(metrics["recall@40"], 1.0);
        }
    }
}

#[test]
fn items_without_a_place_are_in_no_list_and_count_as_missed() {
    let train = Interactions::from_pairs(2, 4, [(0, 0), (1, 0), (1, 1)]);
    let test = Interactions::from_pairs(2, 4, [(0, 1), (0, 2), (0, 3)]);
    // Scores that prefer what was never trained.
    let scores = [0.1, 0.2, 0.9, 0.8].repeat(2);
    let scorer = Table { num_items: 4, scores };
    let order = ItemOrder::numbered(4).without_untrained(&train);
    let evaluate = |evaluator: RankingEvaluator| evaluator.evaluate(&scorer).unwrap()["recall@3"];
    assert_eq!(evaluate(RankingEvaluator::new(&[3], &train, &test)), 1.0);
    assert_eq!(
        evaluate(RankingEvaluator::new(&[3], &train, &test).in_order(order.clone())),
        1.0 / 3.0
    );
    let mut listed = Vec::new();
    let lists = TopItems::new(&scorer, 4).in_order(&order);
    lists
        .of_users(&[0], |_, list| {
            listed = list.iter().map(|ranked| ranked.item).collect();
            Ok::<(), RankingError>(())
        })
        .unwrap();
    assert_eq!(listed, [1, 0]);
}
