/**
 * node render.mjs <name> <specFile> <runtimePath>: reads a document from stdin, prints channels.ts. A process of its own, because the
 * generator writes to the console as it likes and brings packages that nothing else here should resolve. Needs no network.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Generator from '@asyncapi/generator'

const errorSeverity = 0
const [name, specFile, runtimePath] = process.argv.slice(2)
// The parser says in the console what the refusal says again.
console.error = () => {}
const folder = mkdtempSync(join(tmpdir(), 'channels-'))
try {
  const text = await render()
  process.stdout.write(text)
} catch (error) {
  process.stderr.write(explain(error))
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function render() {
  const output = join(folder, 'output')
  const templateParams = { name, specFile, runtimePath }
  const generator = new Generator(copyTemplate(), output, { forceWrite: true, templateParams })
  await generator.generateFromString(readFileSync(0, 'utf8'))
  return readFileSync(join(output, 'channels.ts'), 'utf8')
}

/** The generator transpiles into the template's own folder: two runs at once would tread on each other. */
function copyTemplate() {
  const template = join(folder, 'template')
  for (const part of ['package.json', 'template', 'parts'])
    cpSync(join(import.meta.dirname, part), join(template, part), { recursive: true })
  symlinkSync(join(import.meta.dirname, 'node_modules'), join(template, 'node_modules'))
  return template
}

function explain(error) {
  const found = (error.diagnostics ?? []).filter(({ severity }) => severity === errorSeverity)
  if (found.length === 0) return error.message
  return found.map(({ path, message }) => `${path.join('/')}: ${message}`).join('; ')
}
