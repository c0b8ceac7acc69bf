/** Receives OpenTelemetry spans on this machine: OTLP over HTTP as JSON. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

type Value = { stringValue?: string; boolValue?: boolean; intValue?: string | number; doubleValue?: number }
type Attributes = { key: string; value: Value }[]

export type SpanAtSink = {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attributes
  links?: { traceId: string; spanId: string }[]
  status?: { code?: number }
}

type Exported = { resourceSpans: { resource: { attributes: Attributes }; scopeSpans: { spans: SpanAtSink[] }[] }[] }

export type SpanSink = {
  url: string
  spans: () => SpanAtSink[]
  /** Returns the OpenTelemetry resource attributes of the server, from the first received spans. */
  resource(): Record<string, unknown>
  /** Waits until the condition is true. Rejects after a while. */
  until: (isDone: () => boolean) => Promise<void>
  close: () => Promise<void>
}

export async function startSpanSink(port = 0): Promise<SpanSink> {
  const received: Exported['resourceSpans'] = []
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      received.push(...(body as Exported).resourceSpans)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => received.flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans),
    resource: () => valuesOf(received[0]?.resource.attributes ?? []),
    async until(isDone) {
      for (let tries = 0; tries < 600 && !isDone(); tries++) await pause(50)
      if (!isDone()) throw new Error('the spans have not come')
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/**
 * Prints one trace with a line per span: children are below their parent, ordered by start. If a span's parent is
 * elsewhere, such as at a client, the span begins at the margin.
 */
export function treeOf(spans: readonly SpanAtSink[]): string {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const parentOf = ({ parentSpanId }: SpanAtSink) => (ids.has(parentSpanId ?? '') ? parentSpanId : undefined)
  const lines = (parentId: string | undefined, indent: string): string[] =>
    spans
      .filter((span) => parentOf(span) === parentId)
      .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)))
      .flatMap((span) => [indent + lineOf(span), ...lines(span.spanId, `${indent}  `)])
  return lines(undefined, '').join('\n')
}

const shown = /tokens|first_chunk|silence|end_reason|status_code|response.model|outcome/

function lineOf({ name, startTimeUnixNano, endTimeUnixNano, attributes }: SpanAtSink): string {
  const ms = Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6
  const values = Object.entries(valuesOf(attributes)).filter(([key]) => shown.test(key))
  const said = values.map(([key, value]) => {
    const name = key.replace(/^(gen_ai\.|parley\.|http\.)(usage\.|turn\.|call\.|response\.(?!model))?/, '')
    return `${name}=${typeof value === 'number' ? Number(value.toFixed(3)) : String(value)}`
  })
  return [name, `${ms.toFixed(1)} ms`, ...said].join('  ')
}

export function valuesOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, boolValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? boolValue ?? Number(intValue ?? doubleValue),
    ]),
  )
}
