/** Writes the pages for operations and webhooks. A webhook is a request in the other direction. */
import type { Answer, Content, Contract, Named, Operation, Parameter } from './contract.ts'
import { blocks, code, codeOf, fence, json, list, section, table } from './markdown.ts'
import { fileOf, guidesFolder, linkTo, type Page } from './page.ts'
import { limitTexts, meaningText, schemaText, typeText } from './schema-text.ts'
import { type Language, requestSnippets } from './snippets.ts'

export function operationPage(contract: Contract, operation: Operation, languages: readonly Language[]): Page {
  const text = blocks(
    `# ${operation.summary}`,
    code(`${operation.method.toUpperCase()} ${operation.path}`),
    operation.isDeprecated ? '**Deprecated.**' : '',
    operation.description,
    list(accessLines(contract, operation)),
    parameterSections(contract, operation),
    bodySection(contract, operation, '## Body'),
    section('## Answers', ...operation.answers.filter(isSuccess).map((answer) => answerText(contract, answer))),
    errorSection(contract, operation),
    requestSnippets(contract, operation, languages),
  )
  return pageOf(contract, operation, 'operation', text)
}

export function webhookPage(contract: Contract, webhook: Operation): Page {
  const text = blocks(
    `# ${webhook.path}`,
    `${webhook.summary}. This server sends it to a webhook endpoint as a ${code(webhook.method.toUpperCase())} request.`,
    webhook.description,
    `[How to receive and verify webhooks](../${guidesFolder}/webhooks.md#receive)`,
    parameterSections(contract, webhook),
    bodySection(contract, webhook, '## Body'),
    section('## Your answer', ...webhook.answers.map((answer) => answerText(contract, answer))),
  )
  return { ...pageOf(contract, webhook, 'webhook', text), title: webhook.path }
}

/** Returns the error codes in a response's examples, because an operation answers with exactly these codes. */
export function codesOf({ errors }: Contract, { content }: Answer): string[] {
  const known = new Set(errors.map((row) => row.code))
  const codes = content.flatMap(({ examples }) => examples.map(({ value }) => codeIn(value)))
  return [...new Set(codes)].filter((name): name is string => typeof name === 'string' && known.has(name))
}

const isSuccess = ({ status }: Answer) => !/^[45]/.test(status)

function pageOf(contract: Contract, operation: Operation, kind: 'operation' | 'webhook', text: string): Page {
  const { id, method, path, summary } = operation
  return {
    path: `${contract.name}/${fileOf(kind, id)}`,
    kind,
    title: summary,
    parent: contract.title,
    summary,
    words: `${id} ${method.toUpperCase()} ${path}`,
    text,
  }
}

function accessLines({ title }: Contract, operation: Operation): string[] {
  const { id, scope, role, needsKey } = operation
  return [
    `Operation: ${code(id)}, in the [${title}](index.md)`,
    needsKey ? `API key: needed${scope === null ? '' : `, with the scope ${code(scope)}`}` : 'API key: not needed',
    ...(role === null ? [] : [role === 'none' ? 'Users: may not use it' : `Users: from the role ${code(role)} on`]),
  ]
}

function parameterSections({ schemas }: Contract, { parameters }: Operation): string {
  const places = [
    ['path', '## Path'],
    ['query', '## Query'],
    ['header', '## Headers'],
  ] as const
  return blocks(
    ...places.map(([place, heading]) =>
      section(heading, namedTable(parameters.filter((parameter) => parameter.in === place).map(bounded), schemas)),
    ),
  )
}

function bounded(parameter: Parameter): Named {
  const { bytesMax, description } = parameter
  return bytesMax === null ? parameter : { ...parameter, description: `${description} At most ${bytesMax} bytes.` }
}

export function namedTable(rows: readonly Named[], schemas: Contract['schemas']): string {
  return table(
    ['name', 'type', 'meaning'],
    rows.map(({ name, required, description, schema, example }) => [
      `${code(name)}${required ? ' required' : ''}`,
      typeText(schema),
      meaningText(description, [
        ...limitTexts(schema, schemas),
        ...(example === undefined
          ? []
          : [`for example ${typeof example === 'string' ? code(example) : codeOf(example)}`]),
      ]),
    ]),
  )
}

function bodySection(contract: Contract, { body }: Operation, heading: string): string {
  if (body === null) return ''
  const isRequired = body.required ? 'Required.' : 'Not required.'
  return section(heading, `${body.description} ${isRequired}`.trim(), contentTexts(contract, body.content, '###'))
}

function answerText(contract: Contract, { status, description, headers, content }: Answer): string {
  const rows = headers.map((header) => ({ ...header, required: false }))
  return section(
    `### ${status}`,
    description,
    contentTexts(contract, content, '####'),
    section('#### Headers', namedTable(rows, contract.schemas)),
  )
}

function contentTexts({ schemas }: Contract, content: readonly Content[], heading: string): string {
  return blocks(
    ...content.map(({ type, schema, examples, events, eventData }) => {
      const named = schema === null || typeText(schema) === 'bytes' ? 'bytes' : typeText(schema)
      const rows = Object.entries(events).map(([event, name]) => [code(event), linkTo('schema', name, name)])
      const isEvents = type === 'text/event-stream'
      return blocks(
        `${code(type)}: ${isEvents ? 'a stream of events' : named}`,
        eventData === null ? '' : `Each frame has ${linkTo('schema', eventData, eventData)} as its data.`,
        isEvents || schema === null ? table(['event', 'data'], rows) : schemaText(schema, schemas),
        ...examples.map(({ summary, value }) =>
          section(
            `${heading} Example${summary === '' ? '' : `: ${summary}`}`,
            typeof value === 'string' && type !== 'application/json' ? fence('text', value) : json(value),
          ),
        ),
      )
    }),
  )
}

function errorSection(contract: Contract, { answers }: Operation): string {
  // Headers on all responses are described once, with the successful responses.
  const usual = new Set(answers.filter(isSuccess).flatMap(({ headers }) => headers.map(({ name }) => name)))
  const rows = answers
    .filter((answer) => !isSuccess(answer))
    .map((answer) => [
      answer.status,
      codesOf(contract, answer)
        .map((name) => linkTo('error', name, code(name)))
        .join(', '),
      answer.description,
      answer.headers.flatMap(({ name }) => (usual.has(name) ? [] : [code(name)])).join(', '),
    ])
  return section('## Errors', table(['status', 'code', 'meaning', 'further headers'], rows))
}

/** Finds the code in an error's body: {"error": {"code"}} or {"code"}. */
function codeIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if ('code' in value) return value.code
  const inner = 'error' in value ? value.error : null
  return typeof inner === 'object' && inner !== null && 'code' in inner ? inner.code : undefined
}
