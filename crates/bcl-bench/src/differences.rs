//! What differs between the environments of two measurements.

use crate::Environment;

/// One line per property that both environments know and that differs. The revision and the free memory do not count.
pub(crate) fn differences(old: &Environment, new: &Environment) -> Vec<String> {
    // Destructured in full, so that a new field must be considered here.
    let properties = |environment: &Environment| {
        let Environment {
            version,
            revision: _,
            profile,
            backend,
            device,
            driver,
            system,
            processor,
            threads,
            available_mib: _,
        } = environment;
        [
            ("backend", Some(backend.clone())),
            ("device", Some(device.clone())),
            ("driver", driver.clone()),
            ("system", Some(system.clone())),
            ("processor", Some(processor.clone())),
            ("threads", Some(threads.to_string())),
            ("profile", profile.clone()),
            ("version", Some(version.clone())),
        ]
    };
    let both = properties(old).into_iter().zip(properties(new));
    both.filter_map(|((name, old), (_, new))| {
        let (old, new) = old.zip(new)?;
        (old != new).then(|| format!("{name} was {old} and is {new}"))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_listed_except_the_revision() {
        let old = Environment {
            profile: Some("debug".to_owned()),
            driver: Some("1".to_owned()),
            ..Environment::read(1)
        };
        let same = Environment {
            revision: Some("another".to_owned()),
            available_mib: Some(1.0),
            driver: None,
            ..old.clone()
        };
        assert_eq!(differences(&old, &same), Vec::<String>::new());

        let other = || "other".to_owned();
        let new = Environment {
            version: other(),
            profile: Some(other()),
            backend: other(),
            device: other(),
            driver: Some(other()),
            system: other(),
            processor: other(),
            threads: 7,
            ..old.clone()
        };
        let found = differences(&old, &new);
        assert_eq!(found.len(), 8, "{found:?}");
        assert!(found.contains(&"threads was 1 and is 7".to_owned()), "{found:?}");
    }
}
