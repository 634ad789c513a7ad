//! A shader that does nothing.

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;
const OP_ENTRY_POINT: u32 = 15;

/// The entry point of a SPIR-V module, and a module that does nothing under the same name; `None` if these are not the words of a shader.
pub fn empty_shader(code: &[u32]) -> Option<(String, Vec<u32>)> {
    if *code.first()? != MAGIC {
        return None;
    }
    let name = entry_point(code.get(HEADER..)?)?;
    let [main, void, function, label] = [1, 2, 3, 4];
    let instruction = |opcode: u32, operands: &[u32]| {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | opcode];
        words.extend(operands);
        words
    };
    let entry = [&[5, main], name].concat();
    let instructions: [(u32, &[u32]); 10] = [
        (17, &[1]),                       // OpCapability Shader
        (14, &[0, 1]),                    // OpMemoryModel Logical GLSL450
        (OP_ENTRY_POINT, &entry),         // … GLCompute
        (16, &[main, 17, 1, 1, 1]),       // OpExecutionMode LocalSize
        (19, &[void]),                    // OpTypeVoid
        (33, &[function, void]),          // OpTypeFunction
        (54, &[void, main, 0, function]), // OpFunction
        (248, &[label]),                  // OpLabel
        (253, &[]),                       // OpReturn
        (56, &[]),                        // OpFunctionEnd
    ];
    let header = [MAGIC, code[1], 0, label + 1, 0];
    let body = instructions
        .iter()
        .flat_map(|(opcode, operands)| instruction(*opcode, operands));
    let bytes: Vec<u8> = name
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|&byte| byte != 0)
        .collect();
    Some((
        String::from_utf8_lossy(&bytes).into_owned(),
        header.into_iter().chain(body).collect(),
    ))
}

/// The words of the name of the first entry point.
fn entry_point(mut instructions: &[u32]) -> Option<&[u32]> {
    loop {
        let first = *instructions.first()?;
        let (opcode, len) = (first & 0xffff, (first >> 16) as usize);
        let instruction = instructions.get(..len.max(1))?;
        if opcode == OP_ENTRY_POINT {
            let name = instruction.get(3..)?;
            let ends = |word: &u32| word.to_le_bytes().contains(&0);
            return name.get(..=name.iter().position(ends)?);
        }
        instructions = &instructions[len.max(1)..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_shader_keeps_the_name_and_is_its_own_empty_shader() {
        let name = u32::from_le_bytes(*b"sort");
        let module = [MAGIC, 0x0001_0600, 7, 40, 0, 0x0002_0011, 1, 0x0006_000f, 5, 9, name, 0, 11];
        let (found, empty) = empty_shader(&module).unwrap();
        assert_eq!((found.as_str(), empty[1]), ("sort", 0x0001_0600));
        assert_eq!(empty_shader(&empty), Some((found, empty.clone())));
    }

    #[test]
    fn other_words_are_no_shader() {
        assert_eq!(empty_shader(&[]), None);
        assert_eq!(empty_shader(&[1, 2, 3, 4, 5, 6]), None);
        assert_eq!(empty_shader(&[MAGIC, 0, 0, 0, 0, 0x0009_000f, 5]), None);
    }
}
