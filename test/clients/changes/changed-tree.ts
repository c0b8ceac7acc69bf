/**
 * Copies the generator and the specs into another folder. After each contract change, all clients are generated from
 * the changed specs.
 */
import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { packageFile } from '../../../runtime/package-file.ts'
import type { Edit } from './contract-changes.ts'

const run = promisify(execFile)
const generateMsMax = 600_000
const repository = packageFile('.').pathname
/** The generator, its input, and the test programs. */
const copied = ['codegen', 'package.json', 'LICENSE', 'test/clients/scenario']
/**
 * A change makes some examples in the specs wrong. Clients contain no examples, so in the copy the generator's rules
 * for examples are removed.
 */
const exampleRules = [
  { file: 'codegen/rules.ts', rule: 'example: checkExamples' },
  { file: 'codegen/rules-asyncapi.ts', rule: "'frame-example': examples" },
]
/** The generator's packages for AsyncAPI. They are linked, because a copy would take long. */
const packages = 'codegen/asyncapi/node_modules'

export type ChangedTree = {
  folder: string
  /** Makes all clients from the specs with these edits. Returns null, or the generator's error message. */
  generate(edits: readonly Edit[]): Promise<string | null>
}

/** The folder is in the repository, because programs look for packages there, and git must ignore the folder. */
export function makeTree(folder: string): ChangedTree {
  rmSync(folder, { recursive: true, force: true })
  const isKept = (file: string) => path.basename(file) !== 'node_modules'
  for (const name of copied)
    cpSync(path.join(repository, name), path.join(folder, name), { recursive: true, filter: isKept })
  for (const { file, rule } of exampleRules) writeReplaced(path.join(folder, file), rule, '')
  symlinkSync(path.join(repository, packages), path.join(folder, packages))
  return {
    folder,
    async generate(edits) {
      writeSpecs(path.join(folder, 'specs'), edits)
      const generator = ['--import=tsx', 'codegen/main.ts']
      return failureOf(run(process.execPath, generator, { cwd: folder, timeout: generateMsMax }))
    },
  }
}

function writeReplaced(file: string, find: string | RegExp, replace: string): void {
  writeFileSync(file, replaced(readFileSync(file, 'utf8'), find, replace))
}

/** Returns null, or the output if the command fails. */
export async function failureOf(command: Promise<unknown>): Promise<string | null> {
  try {
    await command
    return null
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    return `${stdout}${stderr}`.trim() || message
  }
}

function writeSpecs(folder: string, edits: readonly Edit[]): void {
  rmSync(folder, { recursive: true, force: true })
  cpSync(path.join(repository, 'specs'), folder, { recursive: true })
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const { file, find, replace } of edits)
    for (const name of files.filter((each) => file.test(each))) writeReplaced(path.join(folder, name), find, replace)
}

/** If the text is not found, the table of changes has a mistake, so this throws. */
function replaced(text: string, find: string | RegExp, replace: string): string {
  const changed = text.replace(find, replace)
  if (changed === text) throw new Error(`there is no text like ${String(find)}`)
  return changed
}
