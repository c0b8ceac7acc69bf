/** generated/<name>/types.ts, validators.ts and errors.ts of a document of channels: what its frames are. */
import type { OpenAPI3 } from 'openapi-typescript'
import { createAjv, registerSchema } from './ajv.ts'
import { schemaTypes, type TypesView } from './emit-types.ts'
import { emitModule } from './emit-validators.ts'
import type { AsyncApiDocument, Channel, Message } from './ir.ts'
import { banner, print } from './print.ts'
import type { Direction } from './schema.ts'

export type Frame = Message & { component: string; direction: Direction }

/** Every text frame once for each direction it goes in. What the service receives is a request, what it sends a response. */
export function textFrames(channels: readonly Channel[]): Frame[] {
  const frames = channels.flatMap(({ receives, sends }) => [
    ...receives.map((message) => ({ ...message, direction: 'request' as const })),
    ...sends.map((message) => ({ ...message, direction: 'response' as const })),
  ])
  const byName = new Map<string, Frame>()
  for (const frame of frames) {
    const { component } = frame
    if (component !== null && !frame.isBinary) byName.set(`${frame.direction}:${component}`, { ...frame, component })
  }
  return [...byName.values()]
}

export async function emitFrameTypes({ file, schemas }: AsyncApiDocument, view: TypesView): Promise<string> {
  const source = { openapi: '3.1.0', info: { title: '', version: '' }, paths: {}, components: { schemas } }
  const text = await schemaTypes(source as OpenAPI3, { defaultNonNullable: view === 'server' })
  return `${banner('emit-frames', file)}\n${withoutOperations(text)}`
}

/** openapi-typescript names what a document of channels has none of. */
function withoutOperations(text: string): string {
  return text.replaceAll(/^export type (paths|webhooks|operations|\$defs) = Record<string, never>;\n/gm, '')
}

export function emitFrameValidators({ file, channels, schemas }: AsyncApiDocument, runtimePath: string): string {
  const ajv = createAjv(schemas)
  const ids = new Map<string, string>()
  for (const { component, direction } of textFrames(channels)) {
    const name = validatorName(component, direction)
    ids.set(name, registerSchema(ajv, name, { $ref: `#/components/schemas/${component}` }, direction, schemas))
  }
  return banner('emit-frames', file) + emitModule(ajv, ids, runtimePath)
}

/** The template of channels.ts spells it the same way. */
function validatorName(component: string, direction: Direction): string {
  return (direction === 'request' ? 'receive' : 'send') + component
}

export function emitCloseCodes({ file, name, errors }: AsyncApiDocument): string {
  const codes = [...new Set(Object.values(errors).map((row) => row.closeCode))].sort()
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}ErrorCode`
  return `${banner('emit-frames', file)}
export type CloseRow = {
  /** What the socket is closed with after the error frame. */
  closeCode: ${codes.join(' | ')}
  retryable: boolean
  message: string
}

export const ${name}Errors = ${print(errors)} as const satisfies Record<string, CloseRow>

export type ${type} = keyof typeof ${name}Errors
`
}
