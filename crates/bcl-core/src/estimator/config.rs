//! The configuration of an estimator: fields with defaults, builders, checks, and serde that refuses unknown keys.

/// Defines the configuration of an estimator: its fields with documentation and defaults, its checks, and how it builds the estimator.
///
/// Generated are `new()`, `Default`, one `with_FIELD` per field, `check()`, `init()`, which panics with the text of a failed check,
/// access to numeric fields by name, and serde. Missing fields take their defaults and unknown ones are refused, so that a recipe can
/// hold the configuration as it is.
macro_rules! estimator {
    (
        $(#[$meta:meta])*
        $config:ident => $estimator:ident {
            $( $(#[$field_meta:meta])* $field:ident / $with:ident : $type:ty = $default:expr, )*
        }

        check($checked:ident) $check:block

        init($parameters:ident) $init:block
    ) => {
        #[doc = concat!("Configuration of [`", stringify!($estimator), "`].")]
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[non_exhaustive]
        pub struct $config { $( $(#[$field_meta])* pub $field: $type, )* }

        impl Default for $config {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $config {
            /// Returns the defaults.
            pub fn new() -> Self {
                Self::default()
            }

            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                pub fn $with(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*

            /// Checks that every parameter is in its range.
            ///
            /// # Errors
            /// Returns an error that names the first parameter that is not, its value and the range.
            pub fn check(&self) -> Result<(), $crate::ParameterError> {
                let $checked = self;
                $check
            }

            /// Builds the estimator.
            ///
            /// # Panics
            /// Panics if a parameter is out of range; [`check`](Self::check) finds out without panicking.
            pub fn init(&self) -> $estimator {
                if let Err(error) = self.check() {
                    panic!("{error}");
                }
                let $parameters = self;
                $init
            }

            /// Returns the number of this name, if there is one.
            pub(crate) fn number(&self, name: &str) -> Option<f64> {
                match name {
                    $( stringify!($field) => $crate::estimator::config::Field::number(&self.$field), )*
                    _ => None,
                }
            }

            /// Sets the number of this name; returns whether there is one.
            pub(crate) fn set_number(&mut self, name: &str, value: f64) -> bool {
                match name {
                    $( stringify!($field) => $crate::estimator::config::Field::set_number(&mut self.$field, value), )*
                    _ => false,
                }
            }
        }
    };
}

/// A field of a configuration, which may be a number. Switches and choices are none.
pub(crate) trait Field {
    fn number(&self) -> Option<f64> {
        None
    }

    fn set_number(&mut self, _: f64) -> bool {
        false
    }
}

impl Field for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }

    fn set_number(&mut self, value: f64) -> bool {
        *self = value;
        true
    }
}

impl Field for bool {}

pub(crate) use estimator;
