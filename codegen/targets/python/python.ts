/** Emits generated/clients/python/: a package with a sync and an async client for each API. */
import { join } from 'node:path'
import type { Surface } from '../../clients/model.ts'
import { snakeCase } from '../../clients/names.ts'
import { readEngine } from '../engine.ts'
import { emitInit } from './exports.ts'
import { emitOperations } from './operations.ts'
import { banner } from './print.ts'
import { emitSockets } from './sockets.ts'
import { emitTypes } from './types.ts'
import { emitWebhooks } from './webhooks.ts'

const folder = 'generated/clients/python'
const source = 'codegen/targets/python/engine'

/** Returns each file's text by its path. */
export function emitPython(surfaces: readonly Surface[]): Map<string, string> {
  const files = new Map(engineFiles())
  const module = (name: string) => `${folder}/parley/${name}.py`
  for (const surface of surfaces) {
    const name = snakeCase(surface.name)
    files.set(module(name), surface.channels.length > 0 ? emitSockets(surface) : emitOperations(surface))
    files.set(module(`schemas/${name}`), emitTypes(surface))
    if (surface.webhooks.length > 0) files.set(module('webhooks'), emitWebhooks(surface))
  }
  files.set(module('engine/__init__'), `${banner('python', 'specs/')}"""The part that all clients share."""\n`)
  files.set(module('schemas/__init__'), `${banner('python', 'specs/')}"""The types of each surface."""\n`)
  files.set(module('__init__'), emitInit(surfaces))
  return files
}

function engineFiles(): [path: string, text: string][] {
  return readEngine(join(import.meta.dirname, 'engine')).map(({ path, text }) => {
    const notice = banner('python', `${source}/${path}`)
    return [`${folder}/${path}`, (path.endsWith('.md') ? `<!-- ${notice.slice(2).trimEnd()} -->\n\n` : notice) + text]
  })
}
