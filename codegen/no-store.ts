type Answers = Record<string, { content?: object; headers?: object }>
type Operation = { responses?: Answers; 'x-no-store'?: boolean }
type Document = { paths?: Record<string, Record<string, Operation>> }

/**
 * Declares `Cache-Control: no-store` on successful responses to every POST and to operations with `x-no-store`. The
 * engine then writes the header, so neither specs nor handlers repeat it.
 */
export function withNoStore<Bundled extends object>(bundled: Bundled): Bundled {
  const document = structuredClone(bundled)
  for (const operations of Object.values((document as Document).paths ?? {}))
    for (const [method, operation] of Object.entries(operations)) {
      if (method !== 'post' && !operation['x-no-store']) continue
      for (const [status, answer] of Object.entries(operation.responses ?? {}))
        if (status.startsWith('2') && answer.content) answer.headers = { 'Cache-Control': header, ...answer.headers }
    }
  return document
}

const header = {
  description: 'No cache may keep the answer.',
  schema: { type: 'string', const: 'no-store' },
  example: 'no-store',
}
