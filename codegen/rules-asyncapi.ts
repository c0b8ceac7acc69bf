/**
 * The project's rules for AsyncAPI documents, beyond AsyncAPI's own rules. rules.ts has the rules for OpenAPI
 * documents.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { componentId, createAjv } from './ajv.ts'
import type { AsyncApiDocument, Channel, Finding, Message, Problem } from './ir.ts'
import { roleFindings, unknownScope } from './rules.ts'
import { modelRules } from './rules-models.ts'
import { children, escapePointer, refName, type Schema } from './schema.ts'
import { type Frame, textFrames } from './validator-plan.ts'

type Rule = (document: AsyncApiDocument) => Finding[]

const shapeRules: Record<string, Rule> = {
  'channel-id': channelIds,
  'channel-scope': channelScopes,
  'channel-role': channelRoles,
  'channel-subprotocol': subprotocols,
  'channel-direction': directions,
  'frame-payload': payloads,
}
const frameRules: Record<string, Rule> = {
  'frame-type': frameTypes,
  'closed-frame': closedFrames,
  'close-codes': closeCodes,
  ...modelRules,
}
const schemaRules: Record<string, Rule> = { 'frame-schema': compile }
const exampleRules: Record<string, Rule> = { 'frame-example': examples }

export const channelRuleNames = Object.keys({ ...shapeRules, ...frameRules, ...schemaRules, ...exampleRules })

/**
 * Runs the rules in groups, because each group relies on the group before. A message shared by many channels is
 * reported once.
 */
export function checkChannels(document: AsyncApiDocument): Problem[] {
  for (const stage of [shapeRules, frameRules, schemaRules, exampleRules]) {
    const problems = Object.entries(stage).flatMap(([rule, check]) =>
      distinct(check(document)).map((finding) => ({ rule, file: document.file, ...finding })),
    )
    if (problems.length > 0) return problems
  }
  return []
}

function distinct(findings: Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [finding.pointer + finding.message, finding])).values()]
}

function channelIds({ channels }: AsyncApiDocument): Finding[] {
  return channels.flatMap(({ id, address, pointer }): Finding[] => {
    if (!/^[a-z][A-Za-z0-9]*$/.test(id))
      return [{ pointer, message: `${id} is not camelCase; it names the handler, the session and the metrics` }]
    if (/^(\/([\w.-]+|\{\w+\}))+$/.test(address)) return []
    return [
      { pointer, message: `address '${address}' is not a path of plain segments; a parameter fills a whole segment` },
    ]
  })
}

function channelScopes({ channels, scopes }: AsyncApiDocument): Finding[] {
  return channels.flatMap(({ scope, pointer }) =>
    scope === null
      ? [{ pointer, message: 'says no x-scope; name the scope that the key must carry' }]
      : unknownScope(scope, scopes, pointer),
  )
}

function channelRoles({ channels, roles }: AsyncApiDocument): Finding[] {
  return channels.flatMap(({ role, pointer }) => roleFindings(role, roles, pointer))
}

function subprotocols({ channels }: AsyncApiDocument): Finding[] {
  return channels
    .filter((channel) => [channel.subprotocol, channel.requiresSubprotocol, channel.credentialPrefix].includes(null))
    .map(({ pointer }) => ({
      pointer,
      message:
        'needs x-subprotocol, x-subprotocol-required and x-credential-prefix; a browser can open it no other way',
    }))
}

function directions({ channels }: AsyncApiDocument): Finding[] {
  return channels
    .filter(({ receives, sends }) => receives.length === 0 || sends.length === 0)
    .map(({ pointer }) => ({
      pointer,
      message: 'needs an operation that receives and one that sends; say what goes each way',
    }))
}

function payloads({ channels }: AsyncApiDocument): Finding[] {
  return channels.flatMap(allMessages).flatMap(({ type, isBinary, component, pointer }): Finding[] => {
    if (type === '') return [{ pointer, message: 'has no name; it is the type of the frame' }]
    if (isBinary || component !== null) return []
    return [{ pointer, message: 'has its payload inline; refer to a component, whose name becomes the type' }]
  })
}

function frameTypes({ channels, schemas }: AsyncApiDocument): Finding[] {
  return channels.flatMap((channel) => {
    const { frameType } = channel
    const wrong = textFrames([channel]).flatMap(({ type, component, pointer }) => {
      const schema = schemas[component]
      const named = typeof schema === 'object' ? schema.properties?.[frameType] : undefined
      const isRequired = typeof schema === 'object' && schema.required?.includes(frameType)
      if (isRequired && typeof named === 'object' && named['const'] === type) return []
      return [
        { pointer, message: `is named ${type}; ${component} must require a ${frameType} that is the const ${type}` },
      ]
    })
    return [...wrong, ...repeated(channel, 'receives'), ...repeated(channel, 'sends')]
  })
}

/**
 * Finds repeated frame types. A frame's type decides its handler, so a channel must not have two frames with one type.
 */
function repeated(channel: Channel, direction: 'receives' | 'sends'): Finding[] {
  const types = channel[direction].filter(({ isBinary }) => !isBinary).map(({ type }) => type)
  return types
    .filter((type, i) => types.indexOf(type) < i)
    .map((type) => ({
      pointer: channel.pointer,
      message: `${direction} two frames of type ${type}; name one otherwise`,
    }))
}

/**
 * Finds schemas of client frames that allow unknown fields. The server refuses unknown fields by name, so each schema
 * must list its fields and forbid all others.
 */
function closedFrames({ channels, schemas }: AsyncApiDocument): Finding[] {
  const seen = new Set<string>()
  const visit = (schema: Schema, pointer: string): Finding[] => {
    if (typeof schema === 'boolean') return []
    if (schema.$ref !== undefined) {
      const name = refName(schema.$ref)
      if (seen.has(name)) return []
      seen.add(name)
      return visit(schemas[name] ?? true, `#/components/schemas/${escapePointer(name)}`)
    }
    const isOpen = schema.properties !== undefined && schema['additionalProperties'] !== false
    const message =
      'takes unknown fields from clients; set additionalProperties: false, or x-open-frames on the channel'
    const inner = children(schema).flatMap(({ schema: child, path }) =>
      visit(child, `${pointer}/${path.map(escapePointer).join('/')}`),
    )
    return [...(isOpen ? [{ pointer, message }] : []), ...inner]
  }
  const closed = channels.filter((channel) => !channel.openFrames).map((channel) => ({ ...channel, sends: [] }))
  return textFrames(closed).flatMap(({ component }) => visit({ $ref: `#/components/schemas/${component}` }, ''))
}

const allowedCloseCodes: readonly (number | null)[] = [1008, 1011, 1012, 1013, 4401, null]

function closeCodes({ errors, schemas }: AsyncApiDocument): Finding[] {
  const schema = schemas['ErrorCode']
  const listed = (typeof schema === 'object' && schema.enum) || []
  const codes = Object.keys(errors)
  const pointer = '#/components/schemas/ErrorCode'
  const missing = codes.filter((code) => !listed.includes(code))
  const surplus = listed.map(String).filter((code) => !codes.includes(code))
  const rows = Object.entries(errors).filter(
    ([, { closeCode, message }]) => !allowedCloseCodes.includes(closeCode) || message === '',
  )
  return [
    ...missing.map((code) => ({ pointer, message: `lacks ${code} of x-error-codes; add it` })),
    ...surplus.map((code) => ({
      pointer,
      message: `has ${code}, which is not in x-error-codes; add its row or remove it`,
    })),
    ...rows.map(([code]) => ({
      pointer: `#/x-error-codes/${code}`,
      message: `needs a message and a closeCode of ${allowedCloseCodes.map(String).join(', ')}`,
    })),
  ]
}

function compile({ channels, schemas }: AsyncApiDocument): Finding[] {
  const refused = (error: unknown) => `cannot be made into a validator: ${(error as Error).message}`
  let ajv: Ajv2020
  try {
    ajv = createAjv(schemas)
  } catch (error) {
    return [{ pointer: '#/components/schemas', message: refused(error) }]
  }
  return textFrames(channels).flatMap(({ component, direction }) => {
    try {
      ajv.getSchema(componentId(direction, component))
      return []
    } catch (error) {
      return [{ pointer: `#/components/schemas/${escapePointer(component)}`, message: refused(error) }]
    }
  })
}

function examples({ channels, schemas }: AsyncApiDocument): Finding[] {
  const ajv = createAjv(schemas)
  return textFrames(channels).flatMap((frame): Finding[] => {
    if (frame.examples.length === 0)
      return [{ pointer: frame.pointer, message: 'has no example; add one, it is what readers look at first' }]
    return frame.examples.flatMap(({ value, pointer }) => checkExample(ajv, frame, value, pointer))
  })
}

function checkExample(ajv: Ajv2020, { component, direction }: Frame, value: unknown, pointer: string): Finding[] {
  const validate = ajv.getSchema(componentId(direction, component))
  // Validation fills in defaults, so it works on a copy of the example.
  if (validate?.(structuredClone(value))) return []
  const [violation] = validate?.errors ?? []
  const place = violation?.instancePath || 'the frame'
  return [{ pointer, message: `does not fit ${component}: ${place} ${violation?.message ?? 'is wrong'}` }]
}

function allMessages({ receives, sends }: Channel): Message[] {
  return [...receives, ...sends]
}
