//! Where the source of a shader reads an image through a sampler, as its debug lines say.
//!
//! Two kinds of lines are read: `OpLine`, and `DebugLine` of the extended instruction set NonSemantic.Shader.DebugInfo.100. Both hold up
//! to the next one, the one that ends them, or the end of the block.

use crate::error::Error;
use crate::fold::Specialization;
use crate::links::{Analysis, Pair, Scratch};
use crate::module::{Function, Instruction, Module};
use crate::op;
use crate::operand::Operand;
use crate::trace::Tracer;

/// The extended instruction set of debug lines.
const SET: &[u8] = b"NonSemantic.Shader.DebugInfo.100";

/// Numbers of its instructions.
const DEBUG_SOURCE: u32 = 35;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

/// Bytes of a file's name; more are left out.
const LONGEST: usize = 1024;

/// Calls that are followed from a function back to what its parameters are.
const DEPTH: u32 = 16;

impl Module<'_> {
    /// File and line of the first image instruction of the entry point that reads `image` through `sampler`; none where the module has no
    /// lines.
    ///
    /// # Errors
    ///
    /// Those of [`Module::links`].
    pub fn source_of(
        &self,
        name: &str,
        model: u32,
        specialization: Option<&Specialization<'_>>,
        link: (Operand, Operand),
    ) -> Result<Option<(String, u32)>, Error> {
        let entry = self.entry(name, model).ok_or(Error::NoEntryPoint)?;
        let mut tracer = Tracer::new(self, specialization);
        let analysis = Analysis::new(&mut tracer, entry, &[])?;
        let mut scratch = Scratch::default();
        // Callers first, so that the entry point's own instruction goes before that of what it calls.
        for number in analysis.order.iter().rev().copied() {
            let Some(function) = self.functions().get(number) else { continue };
            for site in self.sites(function) {
                scratch.site(&mut tracer, function, &site)?;
                for (pair, _) in std::mem::take(&mut scratch.pairs) {
                    if leads(&mut tracer, &analysis, number, &pair, link, DEPTH)? {
                        return Ok(self.line_at(function, site.at));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The line in force at a word offset in a function.
    pub(crate) fn line_at(&self, function: &Function, at: usize) -> Option<(String, u32)> {
        let set = self.lines_set();
        let (mut line, mut before) = (None, op::FUNCTION);
        for it in self.instructions(function.at, at) {
            match it.opcode() {
                op::LINE => line = Some((it.word(1), it.word(2))),
                op::NO_LINE => line = None,
                // What ends a block ends its line. A line between that and the next label holds for the next block.
                op::LABEL if ![op::LINE, op::FUNCTION, op::FUNCTION_PARAMETER].contains(&before) => line = None,
                op::EXT_INST if Some(it.word(3)) == set && it.word(4) == DEBUG_LINE => line = self.debug_line(&it),
                op::EXT_INST if Some(it.word(3)) == set && it.word(4) == DEBUG_NO_LINE => line = None,
                _ => {}
            }
            before = it.opcode();
        }
        // 0 is what compilers write that do not know.
        let (file, line) = line.filter(|(_, line)| *line > 0)?;
        let file = self.defined(file, op::STRING)?;
        Some((text(file.words.get(2..)?), line))
    }

    /// The id of the extended instruction set of debug lines, if it is imported.
    fn lines_set(&self) -> Option<u32> {
        let mut imports = self.instructions(Self::HEADER, self.words().len());
        let import = imports.find(|it| {
            let is_import = it.opcode() == op::EXT_INST_IMPORT;
            is_import && it.words.get(2..).is_some_and(|name| text(name).as_bytes() == SET)
        })?;
        Some(import.word(1))
    }

    /// The ids of file and the number of the line that a `DebugLine` names.
    fn debug_line(&self, it: &Instruction<'_>) -> Option<(u32, u32)> {
        let source = self.definition(it.word(5))?;
        let line = self.defined(it.word(6), op::CONSTANT)?;
        (source.opcode() == op::EXT_INST && source.word(4) == DEBUG_SOURCE).then(|| (source.word(5), line.word(3)))
    }
}

/// Whether a pair of a function is this link, or becomes it at a call.
fn leads(
    tracer: &mut Tracer<'_, '_>,
    analysis: &Analysis,
    number: usize,
    pair: &Pair,
    link: (Operand, Operand),
    depth: u32,
) -> Result<bool, Error> {
    tracer.step(1)?;
    if !pair.is_open() {
        return Ok(tracer.operand(pair.image) == Some(link.0) && tracer.operand(pair.sampler) == Some(link.1));
    }
    if depth == 0 {
        return Ok(false);
    }
    let module = tracer.module;
    let mut scratch = Scratch::default();
    for caller in analysis.order.iter().copied() {
        let Some(function) = module.functions().get(caller) else { continue };
        for call in module.calls(function).filter(|call| module.function(call.word(3)) == Some(number)) {
            scratch.call(tracer, function, &call, pair)?;
            for (pair, _) in std::mem::take(&mut scratch.pairs) {
                if leads(tracer, analysis, caller, &pair, link, depth - 1)? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// A literal string.
fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).take(LONGEST).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
