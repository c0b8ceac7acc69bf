/** Emits parley/__init__.py: the names that a user imports from the package. */
import type { Surface } from '../../clients/model.ts'
import { pascalCase, snakeCase } from '../../clients/names.ts'
import { printImport } from './imports.ts'
import { banner, literal } from './print.ts'

const engine: Readonly<Record<string, readonly string[]>> = {
  answers: ['Audio'],
  errors: [
    ...['ApiConnectionError', 'ApiError', 'ApiTimeoutError', 'ParleyError', 'ProtocolError', 'SocketClosedError'],
    'StreamTruncatedError',
  ],
  events: ['Event'],
  operations: ['CallOptions', 'IdempotentOptions'],
  signatures: ['WebhookVerificationError'],
  sockets: ['AsyncSocket', 'Socket'],
  streams: ['AsyncAudioStream', 'AsyncEventStream', 'AudioStream', 'EventStream'],
  version: ['__version__'],
}

export function emitInit(surfaces: readonly Surface[]): string {
  const clients = surfaces.map(({ name }) => [`.${snakeCase(name)}`, clientsOf(name)] as const)
  const shared = Object.entries(engine).map(([module, names]) => [`.engine.${module}`, names] as const)
  const modules = [...clients, ...shared].sort(([one], [other]) => (one < other ? -1 : 1))
  const imports = modules.map(([module, names]) => printImport(module, names)).join('')
  const all = modules.flatMap(([, names]) => names).sort()
  const head = `${banner('exports', 'specs/')}"""The clients of Parley, a self-hosted voice gateway."""\n\n`
  return `${head}${imports}\n__all__ = [\n${all.map((name) => `    ${literal(name)},\n`).join('')}]\n`
}

const clientsOf = (surface: string) => [`Async${pascalCase(surface)}`, pascalCase(surface)]
