//! The configuration of an estimator: a loss's configuration, with access to its numbers by name.

/// Defines the configuration of an estimator: a [`configuration`](crate::config::configuration) whose numeric fields can be read and
/// set by name, which schedules and tables need.
macro_rules! estimator {
    (
        $(#[$meta:meta])*
        $config:ident => $estimator:ident {
            $( $(#[$field_meta:meta])* $field:ident / $with:ident : $type:ty = $default:expr, )*
        }

        check($checked:ident) $check:block

        init($parameters:ident) $init:block
    ) => {
        $crate::config::configuration! {
            $(#[$meta])*
            $config => $estimator {
                $( $(#[$field_meta])* $field / $with : $type = $default, )*
            }

            check($checked) $check

            init($parameters) $init
        }

        impl $config {
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

/// A number only where it is set, so that a schedule cannot turn on what a recipe leaves out.
impl Field for Option<f64> {
    fn number(&self) -> Option<f64> {
        *self
    }

    fn set_number(&mut self, value: f64) -> bool {
        self.as_mut().is_some_and(|number| number.set_number(value))
    }
}

pub(crate) use estimator;
