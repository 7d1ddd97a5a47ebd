//! How a section of the settings is written down: each field with its default and its least value beside it.

/// A section: a struct, its defaults, and the check of its values.
///
/// `name: type = default, at_least 1;` is a field whose value must not be less than 1, and `, at_most 5` one that must not be more.
macro_rules! section {
    (
        $(#[$about:meta])*
        pub struct $name:ident in $section:literal {
            $(
                $(#[$doc:meta])*
                $field:ident: $type:ty = $default:expr $(, at_least $least:literal)? $(, at_most $most:literal)?;
            )*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $( $(#[$doc])* pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $( $field: $default, )* }
            }
        }

        impl $name {
            /// The bounds of the section with its values.
            pub(in $crate::settings) fn bounds(&self) -> Vec<$crate::settings::section::Bound> {
                vec![$(
                    $( $crate::settings::section::Bound {
                        setting: concat!($section, ".", stringify!($field)),
                        is_met: self.$field >= $least,
                        rule: concat!("at least ", stringify!($least)),
                    }, )?
                    $( $crate::settings::section::Bound {
                        setting: concat!($section, ".", stringify!($field)),
                        is_met: self.$field <= $most,
                        rule: concat!("at most ", stringify!($most)),
                    }, )?
                )*]
            }
        }
    };
}

pub(super) use section;

/// A bound of a setting, and whether its value keeps to it.
pub struct Bound {
    pub setting: &'static str,
    pub is_met: bool,
    /// What the value must be: `at least 1`.
    pub rule: &'static str,
}
