/**
 * Emits a client's methods: one method for each kind of response (JSON, audio, text, event stream), and one more method
 * for audio in chunks. The async client's methods are made from the sync client's methods.
 */
import type { ClientMethod, ClientOperation, ClientParameter } from '../../clients/model.ts'
import { brackets, docstring, literal, nested, pythonName } from './print.ts'
import { resultType, rowName } from './rows.ts'
import { describe, formName } from './types.ts'
import type { Uses } from './uses.ts'

/** How a method returns its response: as a value, as events, or as audio in chunks. */
type Delivery = 'call' | 'events' | 'chunks'

/** For each delivery, the function in the client's engine that makes an async method from the sync method. */
const twins = { call: 'awaited', events: 'async_events', chunks: 'async_chunks' } as const

export function emitMethods(operations: readonly ClientOperation[], uses: Uses): string {
  return operations
    .flatMap((operation) => methodsOf(operation, uses))
    .map(({ text }) => text)
    .join('\n')
}

export function emitAsyncMethods(className: string, operations: readonly ClientOperation[], uses: Uses): string {
  const methods = operations.flatMap((operation) => methodsOf(operation, uses))
  return methods.map(({ name, delivery }) => `    ${name} = ${twins[delivery]}(${className}.${name})\n`).join('')
}

type Method = { name: string; delivery: Delivery; text: string }

function methodsOf(operation: ClientOperation, uses: Uses): Method[] {
  return operation.methods.flatMap((method) =>
    deliveries(method).map((delivery) => {
      const name = pythonName(method.name) + (delivery === 'chunks' ? '_chunks' : '')
      return { name, delivery, text: emitMethod({ name, delivery }, operation, method, uses) }
    }),
  )
}

function deliveries({ answer }: ClientMethod): Delivery[] {
  if (answer.kind === 'events' || answer.kind === 'data') return ['events']
  return answer.kind === 'bytes' ? ['call', 'chunks'] : ['call']
}

function emitMethod(
  { name, delivery }: Omit<Method, 'text'>,
  operation: ClientOperation,
  method: ClientMethod,
  uses: Uses,
): string {
  const result = answerType(resultType(operation, method, uses), delivery)
  const call = [rowName(method), 'options', ...argumentsOf(operation)]
  const isFirst = method === operation.methods[0] && delivery !== 'chunks'
  return (
    (operation.isDeprecated ? `    @deprecated("This operation will be removed.")\n` : '') +
    brackets(`def ${name}(`, parametersOf(operation, uses), `) -> ${result}:`, '    ') +
    docstring(isFirst ? documentation(operation) : `${sentence(operation)} ${forms[delivery]}`, '        ') +
    brackets(`return self._${delivery}(`, call, ')', '        ')
  )
}

/** Sentences for the docstring that tell an operation's additional methods from its first method. */
const forms = {
  call: 'The answer is text.',
  events: 'The answer is a stream of events.',
  chunks: 'The answer comes in chunks.',
}

function answerType(result: string, delivery: Delivery): string {
  if (delivery === 'chunks') return 'AudioStream'
  return delivery === 'events' ? `EventStream[${result}]` : result
}

function parametersOf(operation: ClientOperation, uses: Uses): string[] {
  const named = namedParameters(operation).map(({ name, use, isRequired }) => {
    const type = uses.print(use, 'sent', 'types.')
    return `${pythonName(name)}: ${isRequired ? type : `${type.replace(/ \| None$/, '')} | None = None`}`
  })
  if (operation.body?.kind === 'bytes') named.push('content_type: str = "application/octet-stream"')
  return [
    'self',
    ...pathParameters(operation).map(({ name }) => `${pythonName(name)}: str`),
    ...bodyParameter(operation, uses),
    ...(named.length > 0 ? ['*', ...named] : []),
    `**options: Unpack[${operation.isIdempotent ? 'IdempotentOptions' : 'CallOptions'}]`,
  ]
}

function bodyParameter(operation: ClientOperation, uses: Uses): string[] {
  const { body } = operation
  if (!body) return []
  const form = () => `types.${formName(operation)}`
  const type =
    body.kind === 'json' ? uses.print(body.use, 'sent', 'types.') : body.kind === 'bytes' ? 'AudioContent' : form()
  return [`body: ${type}${body.isRequired ? '' : ' | None = None'}`]
}

function argumentsOf(operation: ClientOperation): string[] {
  const query = operation.parameters.filter((parameter) => parameter.in === 'query')
  const headers = operation.parameters.filter((parameter) => parameter.in === 'header')
  const contentType = operation.body?.kind === 'bytes' ? ['"Content-Type": content_type'] : []
  return [
    ...dict('path', pathParameters(operation).map(item)),
    ...dict('query', query.map(item)),
    ...dict('headers', [...headers.map(item), ...contentType]),
    ...(operation.body ? ['body=body'] : []),
  ]
}

const item = ({ name }: ClientParameter) => `${literal(name)}: ${pythonName(name)}`

/** The indent for arguments if the call has several lines. */
const argumentIndent = ' '.repeat(12)

function dict(name: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [nested(`${name}={`, items, '}', argumentIndent)]
}

/**
 * Returns the summary and the parameters' descriptions. A description is left out if it only calls the parameter an id.
 */
function documentation(operation: ClientOperation): string {
  const lines = [...pathParameters(operation), ...namedParameters(operation)].flatMap((parameter) => {
    const text = describe(parameter).replaceAll('\n', ' ')
    return text === '' || text.startsWith('The id of ') ? [] : [`${pythonName(parameter.name)}: ${text}`]
  })
  return [sentence(operation), ...(lines.length > 0 ? ['', ...lines] : [])].join('\n')
}

const sentence = ({ summary }: ClientOperation) => `${summary.replace(/\.$/, '')}.`
const pathParameters = ({ parameters }: ClientOperation) => parameters.filter((parameter) => parameter.in === 'path')
const namedParameters = ({ parameters }: ClientOperation) => parameters.filter((parameter) => parameter.in !== 'path')
