/**
 * Streams responses piece by piece. The status line waits for the first piece, so if a stream fails at its start, the
 * client gets an error response.
 */
import type { Engine } from './engine.ts'
import type { HttpExchange } from './http-exchange.ts'
import { SlowReader } from './slow-reader.ts'

/** A sync or async iterator. */
export type Pieces<Item = unknown> = {
  next(): IteratorResult<Item> | Promise<IteratorResult<Item>>
  return?(): unknown
}

/** A response's head. `bytes` is the body's length, or null if unknown. */
export type StreamHead = { status: number; headers: readonly string[]; bytes: number | null }

/**
 * Streams `body`, an iterable of Uint8Array. Throws the iterable's error. Also throws if the body is empty or its
 * length differs from `bytes`.
 */
export async function streamBytes(
  engine: Engine,
  exchange: HttpExchange,
  { status, headers, bytes }: StreamHead,
  body: unknown,
): Promise<void> {
  const reader = new SlowReader(engine, exchange)
  const { transport } = exchange
  const forward = async (pieces: Pieces<Uint8Array>) => {
    const first = await nextBytes(pieces)
    if (!first) throw new Error('the byte stream ended without a byte')
    let left = bytesLeftAfter(bytes ?? Number.POSITIVE_INFINITY, first)
    exchange.status = status
    let isFlowing = transport.open(status, headers, first, bytes)
    for (let piece = await nextBytes(pieces); piece; piece = await nextBytes(pieces)) {
      left = bytesLeftAfter(left, piece)
      if (!isFlowing) await reader.drained()
      isFlowing = transport.write(piece)
    }
    if (bytes === null) return transport.end()
    if (left > 0) throw new Error(`the byte stream ended ${left} bytes before its length`)
    if (!isFlowing) await reader.drained()
    transport.end()
  }
  try {
    await whileRead(exchange, body, forward)
  } finally {
    reader.stop()
  }
}

/** Returns the value's iterator. Null if the value is not iterable. */
export function iterate<Item>(value: unknown): Pieces<Item> | null {
  if (typeof value !== 'object' || value === null) return null
  const iterable = value as Partial<AsyncIterable<Item> & Iterable<Item>>
  return iterable[Symbol.asyncIterator]?.() ?? iterable[Symbol.iterator]?.() ?? null
}

/** Returns the next item, or null at the end. */
export async function next<Item>(pieces: Pieces<Item>): Promise<Item | null> {
  const result = await pieces.next()
  return result.done ? null : result.value
}

/** Runs `forward` until it is done or the client has gone. Then releases the iterator, so its source stops too. */
export async function whileRead<Item>(
  exchange: HttpExchange,
  body: unknown,
  forward: (pieces: Pieces<Item>) => Promise<void>,
): Promise<void> {
  const pieces = iterate<Item>(body)
  if (!pieces) throw new Error('the body of a streamed answer must be iterable')
  try {
    await exchange.whileHere(forward(pieces))
  } finally {
    release(pieces)
  }
}

/**
 * Ends an iterator. Does not wait, because a busy generator reacts only after its current await. Its error is dropped,
 * because the response is already over.
 */
export function release(pieces: Pieces): void {
  Promise.resolve()
    .then(() => pieces.return?.())
    .catch(() => {})
}

/** Returns how many bytes are left after this piece. Throws if the piece has too many. */
function bytesLeftAfter(left: number, piece: Uint8Array): number {
  if (piece.length > left) throw new Error('the byte stream is longer than its length')
  return left - piece.length
}

async function nextBytes(pieces: Pieces<Uint8Array>): Promise<Uint8Array | null> {
  for (;;) {
    const bytes = await next(pieces)
    // Skips empty chunks, because an empty chunk would end a chunked body.
    if (!bytes || bytes.length > 0) return bytes
  }
}
