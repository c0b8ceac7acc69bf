/**
 * Compares the public contracts of two releases. Lists the breaking changes, but leaves out changes to parts that an
 * earlier release has marked as deprecated long enough before.
 */
import type { AsyncApiDocument, OpenApiDocument } from '../ir.ts'
import { compareChannels } from './channels.ts'
import type { Contracts } from './contracts.ts'
import { compareOperations } from './operations.ts'
import type { Break } from './values.ts'

export function compareContracts(before: Contracts, after: Contracts): Break[] {
  return [...before].flatMap(([name, document]) => {
    const next = after.get(name)
    if (!next) return [{ place: name, rule: 'document-removed', detail: 'the document is gone' }]
    return distinct(compareDocuments(document, next))
  })
}

function compareDocuments(
  before: OpenApiDocument | AsyncApiDocument,
  after: OpenApiDocument | AsyncApiDocument,
): Break[] {
  if (before.kind === 'openapi' && after.kind === 'openapi') return compareOperations({ before, after })
  if (before.kind === 'asyncapi' && after.kind === 'asyncapi') return compareChannels({ before, after })
  return [{ place: before.name, rule: 'document-removed', detail: `${before.kind} is ${after.kind}` }]
}

function distinct(breaks: Break[]): Break[] {
  return [...new Map(breaks.map((one) => [formatBreak(one), one])).values()]
}

export function formatBreak({ place, rule, detail }: Break): string {
  return `${place}: ${detail} [${rule}]`
}

/**
 * Leaves out breaking changes to operations and fields if an earlier release's contracts (`announced`) deprecate them.
 */
export function withoutAnnounced(breaks: readonly Break[], announced: Contracts): Break[] {
  const parts = [...announced].flatMap(([name, document]) => [
    ...deprecatedOperations(name, document),
    ...deprecatedFields(name, document),
  ])
  return breaks.filter(({ place }) => !parts.some((part) => part.test(place)))
}

/** Returns a pattern for each deprecated operation. It matches every breaking change's `place` inside the operation. */
function deprecatedOperations(name: string, document: OpenApiDocument | AsyncApiDocument): RegExp[] {
  const operations = document.kind === 'openapi' ? document.operations : []
  return operations
    .filter(({ deprecated }) => deprecated)
    .map(({ method, path }) => new RegExp(`^${escaped(`${name} ${method.toUpperCase()} ${path}`)}( |$)`))
}

/** Returns a pattern for each deprecated field. It matches every breaking change's `place` inside the field. */
function deprecatedFields(name: string, { schemas }: OpenApiDocument | AsyncApiDocument): RegExp[] {
  return Object.entries(schemas).flatMap(([component, schema]) =>
    Object.entries((typeof schema === 'object' && schema.properties) || {})
      .filter(([, property]) => typeof property === 'object' && property['deprecated'] === true)
      .map(([field]) => new RegExp(`^${name} (request|answer) ${escaped(`${component}/${field}`)}([/[(]|$)`)),
  )
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
