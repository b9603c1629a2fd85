/* What an instrumented object file says about itself: the section
 * `symfleet_notes` of the program that it is linked into.
 *
 * The section holds lines of text, those of one object file after those of
 * another, each ended by a newline, fields divided by one tab:
 *
 *   module  SOURCE  LLVM  EDGES  LOST
 *   lost    COUNT   WHAT  FILE  LINE  FUNCTION
 *   call    COUNT   WAY   NAME  FILE  LINE  FUNCTION
 *
 * A `module` line opens what one object file says. SOURCE is its source file
 * relative to the root of the project where possible, LLVM the version of the
 * pass, EDGES the number of its edge counters, LOST how many instructions the
 * pass could not model. As many of them as the COUNTs of its `lost` lines add up
 * to share a place: WHAT is the instruction or the intrinsic (`asm` for inline
 * assembly), FILE and LINE (0: unknown) are where it was written, FUNCTION is
 * the mangled name of the function that holds it.
 *
 * A `call` line stands for calls of a function NAME that is only declared in this
 * object file and gets something that may depend on the input. Functions with a
 * model, and those that are known to lose nothing, have none. What the function
 * does is concrete unless it is instrumented itself, in another object file:
 * SF_FUNCTION_MARK (calls.h) stands before it then. WAY says how what it was
 * given may come back: `decides` as a result that is compared or branched on,
 * `result` as another one, `memory` through a pointer, `state` through what it
 * keeps. Losses in sf_header tell which of these calls a run made with labels.
 *
 * What is lost costs labels only: the program does what it did, the operands
 * count as concrete, and sf_header.unmodelled counts how often one of them was
 * met with a symbolic operand. A tab, newline or zero byte within a field is
 * written as a question mark.
 */
#ifndef SYMFLEET_NOTES_H
#define SYMFLEET_NOTES_H

#define SF_NOTES_SECTION "symfleet_notes"
#define SF_NOTES_MODULE "module"
#define SF_NOTES_LOST "lost"
#define SF_NOTES_CALL "call"

#endif
