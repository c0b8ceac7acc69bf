/** Emits an API's client, with a method for each kind of response (JSON, audio, text, event stream). */
import { eventName } from '../../clients/interfaces.ts'
import { brackets } from '../../clients/layout.ts'
import type { ClientAnswer, ClientField, ClientMethod, ClientOperation, ClientParameter } from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import { formName, inputMembers, namedParameters, paramsName } from './inputs.ts'
import { variable } from './names.ts'
import { javadoc, javaFile, method, root } from './print.ts'
import type { JavaSurface } from './surface.ts'

const indent = '    '
/** The path before a contract's paths, if it is not empty. */
const prefixes: Readonly<Record<string, string>> = { router: '/router' }

export function emitOperations(java: JavaSurface): string {
  const { name, file, operations, webhooks } = java.surface
  const className = pascalCase(name)
  const methods = operations.flatMap((operation) =>
    operation.methods.flatMap((each) => emitMethods(operation, each, java)),
  )
  const body = `/** The client of the surface ${name}. It is safe for concurrent use. */
public final class ${className} extends Surface {
${emitContract(java)}
    /** Makes a client with the settings of a connection. */
    public ${className}(ParleyClient client) { super(client, CONTRACT); }

${[...methods, ...(webhooks.length > 0 ? [verifyWebhook] : [])].join('\n')}}
`
  return javaFile('operations', file, `${root}.${name}`, `import ${root}.${name}.Schemas.*;\n`, body)
}

const verifyWebhook = `    /** Checks the signature of a webhook, and reads its body. Throws a WebhookException if it is not valid.
     * @param header returns a header by its name, or null */
    public static WebhookEvent verifyWebhook(WebhookVerifier verifier, UnaryOperator<String> header, byte[] body) {
        verifier.verify(header, body);
        return read(CONTRACT, body, WebhookEvent.class);
    }
`

/** Prints the constant with the contract, its retryable error codes, and the error codes for closed sockets. */
export function emitContract({ surface: { name, errors, closeCodes }, style }: JavaSurface): string {
  const rows: [code: string, row: { retryable: boolean }][] = Object.entries(errors ?? closeCodes ?? {})
  const codes = rows.flatMap(([code, { retryable }]) => (retryable ? [JSON.stringify(code)] : []))
  const closing = Object.keys(closeCodes ?? {}).map((code) => JSON.stringify(code))
  const table = brackets('private static final Set<String> CLOSE_CODES = Set.of(', closing, ');', indent)
  const head = `private static final Contract CONTRACT = new Contract("${prefixes[name] ?? ''}", Json.${style}(), Set.of(`
  if (closeCodes === null) return brackets(head, codes, '), Set.of());', indent)
  return table + brackets(head, codes, '), CLOSE_CODES);', indent)
}

function emitMethods(operation: ClientOperation, each: ClientMethod, java: JavaSurface): string[] {
  const { required, all } = inputsOf(operation, java)
  const name = variable(each.name)
  const { call, result } = answerOf(operation, each.answer, java)
  const deprecated = operation.isDeprecated ? `${indent}@Deprecated\n` : ''
  const tags = operation.isDeprecated ? ['@deprecated see the contract'] : []
  const doc = javadoc(`${operation.summary}: \`${operation.method} ${operation.path}\`.`, tags, indent) + deprecated
  const print = (inputs: readonly Input[], statement: string) => {
    const declared = inputs.map(({ type, name }) => `${type} ${name}`).join(', ')
    return doc + method(`public ApiCall<${result}> ${name}(${declared})`, statement, indent)
  }
  const values = all.map(({ name, type, isRequired }) =>
    isRequired ? name : name === 'params' ? `new ${type}()` : 'null',
  )
  const full = print(all, `return ${call.replace('REQUEST', requestOf(operation, each, java))};`)
  return required.length === all.length ? [full] : [print(required, `return ${name}(${values.join(', ')});`), full]
}

type Input = { type: string; name: string; isRequired: boolean }
function inputsOf(operation: ClientOperation, java: JavaSurface): { required: Input[]; all: Input[] } {
  const { id, parameters, body } = operation
  const params = namedParameters(operation)
  const path = parameters.filter((parameter) => parameter.in === 'path')
  const all: Input[] = path.map(({ name }) => ({ type: 'String', name: variable(name), isRequired: true }))
  if (body?.kind === 'multipart') all.push({ type: pascalCase(formName(id)), name: 'form', isRequired: true })
  if (body?.kind === 'bytes') all.push({ type: java.typeOf({ kind: 'bytes' }, false), name: 'body', isRequired: true })
  if (body?.kind === 'json') all.push({ type: java.typeOf(body.use, false), name: 'body', isRequired: body.isRequired })
  const needsParams = params.some(({ isRequired }) => isRequired)
  if (params.length > 0) all.push({ type: pascalCase(paramsName(id)), name: 'params', isRequired: needsParams })
  return { all, required: all.filter(({ isRequired }) => isRequired) }
}

/** Prints an expression such as request("POST", "/v1/agents").json(body).idempotent(). */
function requestOf(operation: ClientOperation, each: ClientMethod, java: JavaSurface): string {
  const { method, path, parameters, isIdempotent, needsKey } = operation
  const names = parameters.flatMap((parameter) => (parameter.in === 'path' ? [variable(parameter.name)] : []))
  const isBinary = each.answer.kind === 'bytes' || each.answer.kind === 'text'
  return [
    `request(${[JSON.stringify(method), JSON.stringify(path), ...names].join(', ')})`,
    ...paramCalls(operation, java),
    ...bodyCalls(operation, each, java),
    ...(isBinary ? [`accept(${JSON.stringify(each.mediaTypes.join(', '))})`] : []),
    ...(isIdempotent ? ['idempotent()'] : []),
    ...resumption(each.answer),
    ...(needsKey ? [] : ['withoutKey()']),
  ].join('.')
}

function resumption(answer: ClientAnswer): string[] {
  if (answer.kind !== 'events' || answer.identity === null) return []
  const fields = Object.entries(answer.identity)
    .flat()
    .map((text) => JSON.stringify(text))
  return [`resumable(Map.of(${fields.join(', ')}))`]
}

function paramCalls(operation: ClientOperation, java: JavaSurface): string[] {
  const params = namedParameters(operation)
  return inputMembers(params, java).map(({ name }, place) => {
    const parameter = params[place] as ClientParameter
    const value = `params.${name}`
    const call = parameter.in === 'query' ? 'query' : parameter.isJson ? 'jsonHeader' : 'header'
    return `${call}(${JSON.stringify(parameter.name)}, ${value})`
  })
}

/**
 * Returns the calls that set the body. One field may select JSON or an event stream, and the client sets this field.
 */
function bodyCalls(operation: ClientOperation, { setsStream }: ClientMethod, java: JavaSurface): string[] {
  const { body, streamSwitch, streamValue } = operation
  if (body === null) return []
  const isSwitched = streamSwitch !== null && setsStream !== null
  const value = streamValue === true ? setsStream : streamValue
  if (body.kind === 'bytes') return ['bytes(body)']
  if (body.kind === 'json')
    return [isSwitched ? `json(body, ${JSON.stringify(streamSwitch)}, ${JSON.stringify(value)})` : 'json(body)']
  const names = inputMembers(body.parts as ClientField[], java).map(({ name }) => name)
  return body.parts.map(({ name, kind }, place) => {
    const isSet = isSwitched && name === streamSwitch
    return `${kind}Part(${JSON.stringify(name)}, ${isSet ? JSON.stringify(String(value)) : `form.${names[place]}`})`
  })
}

/** Returns the engine's call and its result's type. REQUEST in the call stands for the request. */
function answerOf({ id }: ClientOperation, answer: ClientAnswer, java: JavaSurface): { call: string; result: string } {
  switch (answer.kind) {
    case 'none':
      return { call: 'empty(REQUEST)', result: 'Void' }
    case 'text':
      return { call: 'text(REQUEST)', result: 'String' }
    case 'bytes':
      return { call: 'bytes(REQUEST)', result: 'Download' }
    case 'json': {
      const result = java.boxedType(answer.use, true)
      if (answer.use.kind !== 'list') return { call: `json(REQUEST, ${result}.class)`, result }
      return { call: `jsonList(REQUEST, ${java.boxedType(answer.use.item, true)}.class)`, result }
    }
    case 'data': {
      const type = java.boxedType(answer.use, true)
      return { call: `data(REQUEST, ${[`${type}.class`, ...last(answer)].join(', ')})`, result: `EventStream<${type}>` }
    }
    case 'events': {
      const type = pascalCase(eventName(id))
      return {
        call: `events(REQUEST, ${[`${type}.class`, ...last(answer)].join(', ')})`,
        result: `EventStream<Event<${type}>>`,
      }
    }
  }
}

const last = ({ terminalEvents }: ClientAnswer & { kind: 'events' | 'data' }) =>
  terminalEvents.filter((event) => event !== '[DONE]').map((event) => JSON.stringify(event))
