//! Which parameters of a kernel are addresses: NVRTC does not say so in their declarations, only the instructions do.

use std::collections::{HashMap, HashSet};

/// The parameters through which a kernel accesses memory.
#[derive(Debug, Default)]
pub(super) struct Accesses<'a> {
    /// Those whose value is used as an address.
    pub(super) dereferenced: HashSet<&'a str>,
    /// Those that an address is computed from to which the kernel writes.
    pub(super) written: HashSet<&'a str>,
}

/// What a register was computed from.
#[derive(Clone, Copy)]
struct Origin<'a> {
    parameter: &'a str,
    /// Whether it is the value of the parameter itself.
    is_value: bool,
}

impl<'a> Accesses<'a> {
    /// Follows the parameters through the instructions of a kernel, in the order of the text.
    pub(super) fn of(body: &'a str) -> Self {
        let mut accesses = Self::default();
        let mut origins = HashMap::new();
        for statement in body.split(';') {
            // Braces enclose vectors and blocks of inline assembly. Directives, labels and predicates come before an instruction.
            let mut words = statement
                .split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}'))
                .filter(|word| !word.is_empty())
                .skip_while(|word| !word.starts_with(|c: char| c.is_ascii_lowercase()));
            if let Some(instruction) = words.next() {
                let operands: Vec<&str> = words.collect();
                accesses.follow(instruction, &operands, &mut origins);
            }
        }
        accesses
    }

    fn follow(&mut self, instruction: &str, operands: &[&'a str], origins: &mut HashMap<&'a str, Origin<'a>>) {
        if let ("ld.param.u64" | "ld.param.b64", &[register, address]) = (instruction, operands) {
            let origin = Origin {
                parameter: address.trim_matches(['[', ']']),
                is_value: true,
            };
            origins.insert(register, origin);
            return;
        }
        let writes = ["st.", "atom.", "red."].iter().any(|kind| instruction.starts_with(kind));
        let addresses = operands.iter().filter_map(|operand| operand.strip_prefix('['));
        let registers = addresses.map(|address| address.split(['+', ']']).next().unwrap_or_default());
        for origin in registers.filter_map(|register| origins.get(register)) {
            if origin.is_value {
                self.dereferenced.insert(origin.parameter);
            }
            if writes {
                self.written.insert(origin.parameter);
            }
        }
        let Some((result, inputs)) = operands.split_first() else {
            return;
        };
        // An address is a pointer plus an offset, in either order.
        let of_inputs = || inputs.iter().filter_map(|input| origins.get(input));
        let pointer = of_inputs().find(|origin| self.dereferenced.contains(origin.parameter));
        let Some(&origin) = pointer.or_else(|| of_inputs().next()) else {
            return;
        };
        if instruction == "cvta.to.global.u64" && origin.is_value {
            self.dereferenced.insert(origin.parameter);
        }
        if !writes {
            let is_value = origin.is_value && instruction.starts_with("mov.");
            origins.insert(result, Origin { is_value, ..origin });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: HashSet<&str>) -> Vec<&str> {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn addresses_are_followed_from_parameters_to_reads_and_writes() {
        let accesses = Accesses::of(
            "{
            .reg .b64 %rd<13>;
            ld.param.u64 %rd1, [read];
            ld.param.u64 %rd2, [written];
            ld.param.u64 %rd3, [generic];
            ld.param.u64 %rd4, [count];
            cvta.to.global.u64 %rd5, %rd1;
            mov.u64 %rd6, %rd2;
            cvta.to.global.u64 %rd7, %rd6;
            $L__BB0_1:
            mul.lo.s64 %rd8, %rd4, 4;
            add.s64 %rd9, %rd5, %rd8;
            add.s64 %rd10, %rd8, %rd7;
            mad.lo.s64 %rd12, %rd4, 4, 16;
            ld.global.f32 %f4, [%rd12];
            @%p1 ld.global.v2.f32 {%f1, %f2}, [%rd9+8];
            st.global.v2.f32 [%rd10], {%f1, %f2};
            atom.relaxed.add.f32 %f3, [%rd3], %f1;
            st.shared.u64 [%rd11], %rd4;
            ret;",
        );
        assert_eq!(sorted(accesses.dereferenced), ["generic", "read", "written"]);
        assert_eq!(sorted(accesses.written), ["generic", "written"]);
    }
}
