// Splits a suite's output by file. The lines between `# Subtest: FILE` and the subtest's point belong to the file,
// without their TAP indentation.
import { StringDecoder } from 'node:string_decoder'

/** Calls started(file), line(text) and ended(isGood). Returns a function for the output's chunks. */
export function splitByFile(files, { started, line, ended }) {
  const decoder = new StringDecoder()
  let rest = ''
  let current = null
  const take = (text) => {
    const [, opened] = /^# Subtest: (.*)$/.exec(text) ?? []
    const [, not, closed] = /^(not )?ok \d+ - (\S+)/.exec(text) ?? []
    if (current === null && files.includes(opened)) {
      current = opened
      started(opened)
    } else if (current !== null && closed === current) {
      current = null
      ended(not === undefined)
    } else line(text.startsWith('    ') ? text.slice(4) : text)
  }
  return (chunk) => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop()
    for (const text of lines) take(text)
  }
}
