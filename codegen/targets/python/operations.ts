/** Emits <surface>.py: the rows of its operations, and a sync and an async client. */
import type { Surface } from '../../clients/model.ts'
import { pascalCase, snakeCase } from '../../clients/names.ts'
import { type Modules, printImports } from './imports.ts'
import { emitAsyncMethods, emitMethods } from './methods.ts'
import { banner, brackets, literal } from './print.ts'
import { emitRows } from './rows.ts'
import { Uses } from './uses.ts'

export function emitOperations(surface: Surface): string {
  const { name, file, operations } = surface
  const errors = errorsOf(surface)
  const uses = new Uses(surface)
  const body = [
    ...(errors ? [emitErrors(errors)] : []),
    emitRows(operations, uses),
    emitClient(surface, uses),
    emitAsyncClient(surface, uses),
  ].join('\n\n')
  const imports = printImports(modules, body, `from .schemas import ${snakeCase(name)} as types\n`)
  return `${banner('operations', file)}"""The clients of the surface \`${name}\`."""\n\n${imports}\n${body}`
}

function emitClient(surface: Surface, uses: Uses): string {
  return `${head(surface, '', 'The client')}${emitMethods(surface.operations, uses)}`
}

function emitAsyncClient(surface: Surface, uses: Uses): string {
  const methods = emitAsyncMethods(pascalCase(surface.name), surface.operations, uses)
  return `${head(surface, 'Async', 'The async client')}${methods}`
}

function head(surface: Surface, prefix: string, doc: string): string {
  const fields = [
    ...(errorsOf(surface) ? ['    _errors = _ERRORS\n'] : []),
    ...(surface.prefix === '' ? [] : [`    _prefix = "${surface.prefix}"\n`]),
  ]
  const table = fields.length > 0 ? `${fields.join('')}\n` : ''
  return `class ${prefix}${pascalCase(surface.name)}(${prefix}Client):\n    """${doc} of the surface \`${surface.name}\`."""\n\n${table}`
}

/** The table of errors. Null if each error response says itself whether it is retryable. */
function errorsOf({ errors, declarations }: Surface): Surface['errors'] {
  const detail = declarations.find(({ name }) => name === 'ErrorDetail')
  const isComplete = detail?.kind === 'object' && detail.fields.some(({ name }) => name === 'retryable')
  return isComplete ? null : errors
}

function emitErrors(errors: NonNullable<Surface['errors']>): string {
  const codes = new Map<string, string[]>()
  for (const [code, { type, retryable }] of Object.entries(errors)) {
    const row = `ErrorRow(${literal(type)}, ${literal(retryable)})`
    codes.set(row, [...(codes.get(row) ?? []), literal(code)])
  }
  const rows = [...codes].map(([row, each]) => brackets('**dict.fromkeys([', each, `], ${row}),`, '    '))
  return `_ERRORS: ErrorTable = {\n${rows.join('')}}\n`
}

const modules: Modules = [
  ['collections.abc', ['Mapping', 'Sequence']],
  ['typing', ['Any', 'Literal']],
  ['typing_extensions', ['Unpack', 'deprecated']],
  ['.engine.answers', ['Audio']],
  ['.engine.asynchronous', ['AsyncClient', 'async_chunks', 'async_events', 'awaited']],
  ['.engine.client', ['Client']],
  ['.engine.errors', ['ErrorRow', 'ErrorTable']],
  ['.engine.operations', ['AudioContent', 'CallOptions', 'IdempotentOptions', 'Operation', 'Parts']],
  ['.engine.streams', ['AudioStream', 'EventStream']],
]
