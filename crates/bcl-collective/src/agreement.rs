//! Decisions that all processes must take alike.

use crate::{Collective, Element, from_bytes, share, to_bytes};
use serde::{Serialize, de::DeserializeOwned};
use std::ops::Range;

impl dyn Collective + '_ {
    /// Whether this is process 0, which alone writes files and prints.
    pub fn is_first(&self) -> bool {
        self.index() == 0
    }

    /// The part of `0..total` that belongs to this process; see [`share`].
    pub fn share(&self, total: usize) -> Range<usize> {
        share(total, self.index(), self.size())
    }

    /// Whether `flag` is set on any process. All processes get the same answer.
    pub fn any(&self, flag: bool) -> bool {
        if self.size() == 1 {
            return flag;
        }
        self.all_gather(vec![u8::from(flag)]).contains(&1)
    }

    /// Gathers the bytes of all processes on all processes, one entry per process.
    pub fn gather_each(&self, mine: Vec<u8>) -> Vec<Vec<u8>> {
        let lengths: Vec<u64> = from_bytes(&self.all_gather(to_bytes(&[mine.len() as u64])));
        let all = self.all_gather(mine);
        let mut rest = all.as_slice();
        let each = lengths.into_iter().map(|length| {
            let (first, others) = rest.split_at(length as usize);
            rest = others;
            first.to_vec()
        });
        each.collect()
    }

    /// Gathers a result of each process on all processes, in the order of processes. They travel as CBOR, which keeps every bit of numbers; each process reads
    /// its own result back, too, so that all have the same even if a field is not serialised.
    ///
    /// # Errors
    /// Returns an error on all processes if the result of one cannot be sent or read.
    pub fn gather_results<T: Serialize + DeserializeOwned>(&self, mine: &T) -> Result<Vec<T>, String> {
        let mut bytes = Vec::new();
        // What cannot be sent arrives cut short, which all processes notice.
        let _ = ciborium::into_writer(mine, &mut bytes);
        let all = self.gather_each(bytes);
        let read = all.iter().enumerate().map(|(process, bytes)| {
            ciborium::from_reader(bytes.as_slice())
                .map_err(|error| format!("the result of process {process} cannot be read: {error}"))
        });
        read.collect()
    }

    /// Replaces `values` by process 0's values, bit for bit.
    ///
    /// # Panics
    /// Panics if process 0 has another number of values.
    pub fn broadcast_values<T: Element>(&self, values: &mut [T]) {
        if self.size() == 1 {
            return;
        }
        let mine = if self.is_first() { to_bytes(values) } else { Vec::new() };
        values.copy_from_slice(&from_bytes(&self.broadcast(mine)));
    }

    /// Runs `work` on process 0 and returns its result, or its error, on all processes.
    ///
    /// Process 0 creates folders, reads and writes files; the others learn what came of it. The result travels as CBOR, which keeps every bit of
    /// numbers. With several processes, process 0 reads its own result back, too, so that all have the same even if a field is not serialised. For
    /// whole files, [`on_first_bytes`](#method.on_first_bytes) is faster.
    ///
    /// # Errors
    /// Returns the error of `work`. If a result cannot be sent or read, that is an error on all processes, too.
    pub fn on_first<T: Serialize + DeserializeOwned>(&self, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        if self.size() == 1 {
            return work();
        }
        let bytes = self.on_first_bytes(|| {
            let mut bytes = Vec::new();
            ciborium::into_writer(&work()?, &mut bytes)
                .map_err(|error| format!("the result of process 0 cannot be sent: {error}"))?;
            Ok(bytes)
        })?;
        ciborium::from_reader(bytes.as_slice()).map_err(|error| format!("the result of process 0 cannot be read: {error}"))
    }

    /// Runs `work` on process 0 and returns its bytes, or its error, on all processes.
    ///
    /// # Errors
    /// Returns the error of `work`.
    pub fn on_first_bytes(&self, work: impl FnOnce() -> Result<Vec<u8>, String>) -> Result<Vec<u8>, String> {
        if self.size() == 1 {
            return work();
        }
        let mut message = Vec::new();
        if self.is_first() {
            let (bytes, failed) = work().map_or_else(|error| (error.into_bytes(), 1), |bytes| (bytes, 0));
            message = bytes;
            message.push(failed);
        }
        let mut message = self.broadcast(message);
        match message.pop() {
            Some(0) => Ok(message),
            _ => Err(String::from_utf8_lossy(&message).into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Threads;
    use std::collections::BTreeMap;

    #[test]
    fn one_flag_is_enough_and_all_processes_know() {
        for raised in [None, Some(0), Some(2)] {
            let seen = Threads::run(3, |collective| collective.any(raised == Some(collective.index())));
            assert_eq!(seen, [raised.is_some(); 3]);
        }
    }

    #[test]
    fn the_result_of_process_0_reaches_all_bit_for_bit() {
        let outcome = |process: usize| {
            (
                BTreeMap::from([(format!("of {process}"), Some(0.1_f64 + process as f64))]),
                f64::NAN,
                f32::MIN_POSITIVE,
            )
        };
        let results = Threads::run(3, |collective| collective.on_first(|| Ok(outcome(collective.index()))));
        for result in results {
            let (map, nan, small) = result.unwrap();
            assert_eq!((map, small), (outcome(0).0, f32::MIN_POSITIVE));
            assert!(nan.is_nan());
        }
    }

    #[test]
    fn results_of_all_processes_reach_all() {
        let result = |process: usize| (process, Some(0.1_f64 * process as f64), vec![format!("of {process}")]);
        let gathered = Threads::run(3, |collective| {
            collective.gather_results(&result(collective.index())).unwrap()
        });
        assert_eq!(gathered, vec![[0, 1, 2].map(result).to_vec(); 3]);
    }

    #[test]
    fn a_result_that_cannot_be_sent_is_an_error_of_all() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        struct Broken(bool);

        impl serde::Serialize for Broken {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if self.0 {
                    return Err(serde::ser::Error::custom("broken"));
                }
                serializer.serialize_newtype_struct("Broken", &false)
            }
        }
        let outcomes = Threads::run(3, |collective| collective.gather_results(&Broken(collective.index() == 1)));
        for outcome in outcomes {
            let problem = outcome.unwrap_err();
            assert!(problem.contains("process 1"), "{problem}");
        }
    }

    #[test]
    fn the_error_of_process_0_reaches_all_and_others_do_no_work() {
        let results = Threads::run(3, |collective| {
            collective.on_first::<u32>(|| match collective.index() {
                0 => Err("the disk is full".to_owned()),
                _ => unreachable!("only process 0 works"),
            })
        });
        assert_eq!(results, vec![Err("the disk is full".to_owned()); 3]);
    }

    #[test]
    fn gathered_bytes_keep_their_process() {
        let gathered = Threads::run(3, |collective| {
            collective.gather_each(vec![collective.index() as u8; 2 * collective.index()])
        });
        assert_eq!(gathered, vec![vec![vec![], vec![1, 1], vec![2, 2, 2, 2]]; 3]);
    }

    #[test]
    fn broadcast_values_are_those_of_process_0() {
        let values = Threads::run(3, |collective| {
            let mut values = [collective.index() as f32 + 0.5; 4];
            collective.broadcast_values(&mut values);
            values
        });
        assert_eq!(values, [[0.5; 4]; 3]);
    }
}
