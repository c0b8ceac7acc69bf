/** Ends sockets and event streams when their client's credential is revoked. */
import type { Grant, WatchGrant } from '../domain/access/revocations.ts'
import { type CancelSignal, CancelSource } from '../runtime/engine/cancel-signal.ts'
import type { Socket, SocketContext } from '../runtime/engine/socket.ts'

export interface Revocable {
  /** Tells the client in a last message that its key was revoked, and closes the socket. */
  onRevoked(): void
}

/** Opens one socket's session. */
export type OpenSession<Caller, Session> = (socket: Socket, context: SocketContext<Caller>) => Session

/** Makes a channel's handler watch each socket's grant until the socket has ended. */
export function revocable<Caller, Session extends Revocable>(
  watch: WatchGrant,
  grantOf: (context: SocketContext<Caller>) => Grant,
  open: OpenSession<Caller, Session>,
): OpenSession<Caller, Session> {
  return (socket, context) => {
    const session = open(socket, context)
    const unwatch = watch(grantOf(context), () => session.onRevoked())
    context.signal.addEventListener('abort', unwatch)
    return session
  }
}

/**
 * Opens an event stream and ends it when the client's credential is revoked. `open` gets a cancel signal, which is
 * aborted when the credential is revoked or the client disconnects.
 */
export async function untilRevoked<Item>(
  watch: WatchGrant,
  grant: Grant,
  signal: CancelSignal,
  open: (signal: CancelSignal) => Promise<AsyncIterable<Item>>,
): Promise<AsyncGenerator<Item>> {
  const source = new CancelSource()
  const leave = () => {
    unwatch()
    source.abort(gone)
  }
  const unwatch = watch(grant, () => source.abort(revoked))
  const end = () => {
    signal.removeEventListener('abort', leave)
    unwatch()
  }
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave)
  try {
    return itemsOf(await open(source), source, end)
  } catch (error) {
    end()
    throw error
  }
}

async function* itemsOf<Item>(
  items: AsyncIterable<Item>,
  signal: CancelSignal,
  end: () => void,
): AsyncGenerator<Item, void, undefined> {
  try {
    for await (const item of items) {
      if (signal.aborted) return
      yield item
    }
  } finally {
    end()
  }
}

const gone = new Error('the client has gone')
const revoked = new Error('the credential of the stream was revoked')
