//! The configuration of an estimator: fields with defaults, builders, serde with unknown keys refused.

/// Defines a configuration in one place: its fields with documentation and defaults.
///
/// Generated are `new()`, `Default`, one `with_FIELD` a field, and serde in which missing fields take their defaults and unknown
/// ones are refused, so that a recipe file can hold the configuration as it is.
macro_rules! estimator_config {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $( $(#[$field_meta:meta])* $field:ident / $with:ident : $type:ty = $default:expr, )* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $( $(#[$field_meta])* pub $field: $type, )* }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $name {
            /// The defaults.
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
        }
    };
}

/// Turns a failed check into the panic that `init` documents.
pub(crate) fn expect_checked(outcome: Result<(), crate::ParameterError>) {
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

pub(crate) use estimator_config;
