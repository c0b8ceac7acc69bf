/** Writes the pages for an API's schemas and error codes. */
import { refName } from '../schema.ts'
import type { Contract, ErrorCode } from './contract.ts'
import { blocks, code, json, list, section } from './markdown.ts'
import { codesOf } from './operation-page.ts'
import { fileOf, linkTo, type Page } from './page.ts'
import { descriptionOf, schemaText } from './schema-text.ts'

export function schemaPages(contract: Contract): Page[] {
  const users = usersOf(contract)
  return Object.entries(contract.schemas).map(([name, schema]) => {
    const description = descriptionOf(schema)
    const examples = (typeof schema === 'object' ? (schema['examples'] as unknown[] | undefined) : undefined) ?? []
    const text = blocks(
      `# ${name}`,
      description,
      `A schema of the [${contract.title}](index.md).`,
      section('## Content', schemaText(schema, contract.schemas)),
      ...examples.map((value) => section('## Example', json(value))),
      section('## Used by', list(users.get(name) ?? [])),
    )
    return page(contract, 'schema', name, description, text)
  })
}

export function errorPages(contract: Contract): Page[] {
  return contract.errors.map((row) => {
    const operations = contract.operations.filter(({ answers }) =>
      answers.some((answer) => codesOf(contract, answer).includes(row.code)),
    )
    const text = blocks(
      `# ${row.code}`,
      row.message,
      row.hint === '' ? '' : `**What to do.** ${row.hint}`,
      list([
        `An error code of the [${contract.title}](index.md)`,
        `Comes as: ${placeOf(row)}`,
        ...(row.type === '' ? [] : [`Type: ${code(row.type)}`]),
        `Worth a second try as it is: ${row.retryable ? 'yes, later' : 'no'}`,
        ...(row.headers.length === 0 ? [] : [`Headers: ${row.headers.map(code).join(', ')}`]),
      ]),
      section(
        '## Operations that answer it',
        list(operations.map(({ id, summary }) => linkTo('operation', id, summary))),
      ),
    )
    return page(contract, 'error', row.code, row.message, text)
  })
}

export function placeOf({ isOfSocket, closeCode, status }: ErrorCode): string {
  if (!isOfSocket) return status === null ? 'the end of a stream' : `HTTP ${status}`
  return closeCode === null
    ? `a frame ${code('error')}; the socket stays open`
    : `a frame ${code('error')}, then the close code ${closeCode}`
}

function page(contract: Contract, kind: 'schema' | 'error', name: string, summary: string, text: string): Page {
  const path = `${contract.name}/${fileOf(kind, name)}`
  return { path, kind, title: name, parent: contract.title, summary, words: '', text }
}

/** Returns for each schema the links to the operations, webhooks, channels and schemas that name it. */
function usersOf({ operations, webhooks, channels, schemas }: Contract): Map<string, string[]> {
  const users = new Map<string, string[]>()
  const add = (value: unknown, link: string) => {
    for (const name of namesIn(value)) users.set(name, [...new Set([...(users.get(name) ?? []), link])])
  }
  for (const operation of operations) add(operation, linkTo('operation', operation.id, operation.summary))
  for (const webhook of webhooks) add(webhook, linkTo('webhook', webhook.id, webhook.path))
  for (const channel of channels) add(channel, linkTo('channel', channel.id, channel.summary))
  for (const [name, schema] of Object.entries(schemas)) add(schema, linkTo('schema', name, name))
  return users
}

/** Finds component names in a part of the contract: references, and the data of events. */
function namesIn(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set()
  const names = new Set(Object.values(value).flatMap((inner: unknown) => [...namesIn(inner)]))
  if ('$ref' in value && typeof value.$ref === 'string') names.add(refName(value.$ref))
  if ('events' in value && 'examples' in value)
    for (const name of Object.values(value.events as object)) names.add(String(name))
  if ('eventData' in value && typeof value.eventData === 'string') names.add(value.eventData)
  return names
}
