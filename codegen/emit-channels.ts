/**
 * generated/<name>/channels.ts by the AsyncAPI generator and our template in codegen/asyncapi. The generator is a few hundred
 * packages that only this needs, so they have a lock of their own and are installed when something is to be generated.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { AsyncApiDocument } from './ir.ts'

const folder = join(import.meta.dirname, 'asyncapi')
const renderMsMax = 60_000

export function isGeneratorInstalled(): boolean {
  return existsSync(join(folder, 'node_modules/.package-lock.json'))
}

/** Rejects with what the generator has against the document. */
export async function emitChannels({ name, file, source }: AsyncApiDocument, runtimePath: string): Promise<string> {
  if (!isGeneratorInstalled()) throw new Error('the AsyncAPI generator is not installed; run make asyncapi-generator')
  const child = spawn(process.execPath, [join(folder, 'render.mjs'), name, file, runtimePath], { timeout: renderMsMax })
  child.stdin.on('error', () => {
    // It ended without reading; what it wrote says why.
  })
  child.stdin.end(JSON.stringify(source))
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const [rendered, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`the AsyncAPI generator refuses it: ${complaint.trim()}`)
  return rendered.endsWith('\n') ? rendered : `${rendered}\n`
}
