type Answers = Record<string, { content?: object; headers?: object }>
type Operation = { responses?: Answers; 'x-no-store'?: boolean }
type Document = { paths?: Record<string, Record<string, Operation>> }

/**
 * Declares the header that makes the engine keep answers out of caches, for operations with `x-no-store` and every
 * POST. No operation in a spec repeats it, and handlers need not set it.
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
