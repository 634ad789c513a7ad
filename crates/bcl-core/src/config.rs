//! The configuration of a loss: fields with defaults, builders, checks, and serde that refuses unknown keys.

/// Defines the configuration of a loss: its fields with documentation and defaults, its checks, and how it builds the loss.
///
/// Generated are `new()`, `Default`, one `with_FIELD` per field, `check()`, `init()`, which panics with the text of a failed check, and
/// serde. Missing fields take their defaults and unknown ones are refused, so that a recipe can hold the configuration as it is.
macro_rules! configuration {
    (
        $(#[$meta:meta])*
        $config:ident => $loss:ident {
            $( $(#[$field_meta:meta])* $field:ident / $with:ident : $type:ty = $default:expr, )*
        }

        check($checked:ident) $check:block

        init($parameters:ident) $init:block
    ) => {
        #[doc = concat!("Configuration of [`", stringify!($loss), "`].")]
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

            /// Builds the loss.
            ///
            /// # Panics
            /// Panics if a parameter is out of range; [`check`](Self::check) finds out without panicking.
            pub fn init(&self) -> $loss {
                if let Err(error) = self.check() {
                    panic!("{error}");
                }
                let $parameters = self;
                $init
            }
        }
    };
}

pub(crate) use configuration;
