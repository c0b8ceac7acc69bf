/**
 * node render.mjs: reads {document, model} from stdin and prints channels.ts. It runs as a separate process, because
 * the AsyncAPI generator writes to the console and brings packages that no other code here should resolve. It needs no
 * network.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Generator from '@asyncapi/generator'

const errorSeverity = 0
// Console output from the parser is suppressed, because the thrown error contains the same messages.
console.error = () => {}
const folder = mkdtempSync(join(tmpdir(), 'channels-'))
try {
  // Standard input is read asynchronously, because a synchronous read fails with EAGAIN if the parent has not written
  // yet.
  process.stdout.write(await render(JSON.parse(await text(process.stdin))))
} catch (error) {
  process.stderr.write(explain(error))
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function render({ document, model }) {
  const output = join(folder, 'output')
  const templateParams = { model: JSON.stringify(model) }
  const generator = new Generator(copyTemplate(), output, { forceWrite: true, templateParams })
  await generator.generateFromString(JSON.stringify(document))
  return readFileSync(join(output, 'channels.ts'), 'utf8')
}

/**
 * Copies the template. The generator transpiles into the template's folder, so each run needs a separate copy: two runs
 * can happen at once.
 */
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
