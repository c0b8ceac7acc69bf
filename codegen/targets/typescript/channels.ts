/**
 * Emits generated/<name>/channels.ts with the AsyncAPI generator and our template in codegen/asyncapi. The generator
 * checks the document and renders the template. The template prints the model below and does not read the document
 * again. Only the generator needs its few hundred packages. So they have a separate lock file and are installed only to
 * generate code.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type AsyncApiDocument, type Channel, type Message, pascal } from '../../ir.ts'
import { frameValidator } from '../../validator-plan.ts'
import { type View, viewsOf } from '../../views.ts'
import { TypeNames } from './type-names.ts'

const folder = join(import.meta.dirname, '../../asyncapi')
/** Rendering takes three seconds of processor time, and much longer while tests run on the same machine. */
const renderMsMax = 300_000

export function isGeneratorInstalled(): boolean {
  return existsSync(join(folder, 'node_modules/.package-lock.json'))
}

/**
 * Runs the AsyncAPI generator, and resolves with the text of channels.ts. Rejects with the generator's error message
 * about the document.
 */
export async function emitChannels(document: AsyncApiDocument, runtimePath: string): Promise<string> {
  if (!isGeneratorInstalled()) throw new Error('the AsyncAPI generator is not installed; run make asyncapi-generator')
  const child = spawn(process.execPath, [join(folder, 'render.mjs')], { timeout: renderMsMax })
  child.stdin.on('error', () => {
    // The process ended without reading. Its output shows why.
  })
  child.stdin.end(JSON.stringify({ document: document.source, model: modelOf(document, runtimePath) }))
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const [rendered, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code === null) throw new Error(`the AsyncAPI generator was ended; it may take ${renderMsMax / 1000} s`)
  if (code !== 0) throw new Error(`the AsyncAPI generator refuses it: ${complaint.trim()}`)
  return rendered.endsWith('\n') ? rendered : `${rendered}\n`
}

/** Lists everything that the template prints, as plain values. */
function modelOf(document: AsyncApiDocument, runtimePath: string) {
  const { name, file, channels } = document
  const names = new TypeNames(viewsOf(document))
  const rows = channels.map((channel) => modelOfChannel(channel, names))
  const typeImport = names.importFrom('./types.ts')
  return { name, type: pascal(name), file, runtimePath, channels: rows, typeImport }
}

function modelOfChannel(channel: Channel, names: TypeNames) {
  const frames = (messages: readonly Message[], view: View) =>
    messages.flatMap(({ type, component, isBinary }) =>
      isBinary || component === null ? [] : [modelOfFrame(type, component, view, names)],
    )
  return {
    ...channel,
    // The server checks only parameters with a list of values.
    query: channel.query.filter(({ values }) => values.length > 0),
    type: pascal(channel.id),
    receives: frames(channel.receives, 'received'),
    sends: frames(channel.sends, 'answered'),
    acceptsBinary: channel.receives.some(({ isBinary }) => isBinary),
  }
}

function modelOfFrame(type: string, component: string, view: View, names: TypeNames) {
  const validator = frameValidator(component, view === 'received' ? 'request' : 'response')
  return { type, on: `on${pascal(type)}`, component: names.component(component, view), validator }
}
