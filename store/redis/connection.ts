/**
 * A connection to Redis or Valkey. Data stored only in Redis is short-lived or can be counted again, so an installation
 * may lose Redis at any time.
 *
 * While the connection is down, a command fails at once. If commands waited, they would stop requests although the
 * server can serve without Redis.
 */
import { createHash } from 'node:crypto'
import type { Log } from '../../domain/ports/system.ts'
import { Fault } from '../../domain/records/fault.ts'
import { loadRedis } from '../../runtime/optional.ts'
import { systemClock, within } from '../../runtime/timing/clock.ts'

export type Script = { text: string; sha1: string }

export type Redis = {
  /** Runs a script in one step. Throws the fault store_unreachable while the connection is down. */
  run(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>
  /** Sets a key. Returns false if the key exists already. The key expires after `lifeMs`. Throws like `run`. */
  setOnce(key: string, lifeMs: number): Promise<boolean>
  /** Calls `received` at each message, and when a message may have been missed. */
  listen(channel: string, received: () => void): Promise<void>
  close(): void
}

/** The prefix of all keys. The braces put all keys on one node of a cluster, because a script reads several keys. */
export const keyPrefix = '{parley}:'

/** The time limits here use the machine's clock, because a real server answers. */
const connectMs = 5_000
/** If the server sends nothing for this long, in spite of a ping each second, it counts as gone. */
const silenceMs = 3_000
const pingEveryMs = 1_000
/** The maximum number of unanswered commands. Further commands fail. */
const commandsMax = 20_000
const reconnectMaxMs = 500
/**
 * Errors while a server starts, is full, or has become a replica:
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
const passing = /^(LOADING|READONLY|MASTERDOWN|OOM|CLUSTERDOWN|TRYAGAIN|BUSY)\b/

export function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/** Connects. Rejects if there is no answer within 5 s, with a message naming the setting. */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const { createClient, ErrorReply } = await loadRedis()
  const open = () => {
    const client = createClient({
      url,
      socket: {
        connectTimeout: connectMs,
        socketTimeout: silenceMs,
        reconnectStrategy: (retries: number) => Math.min(50 * 2 ** retries, reconnectMaxMs),
      },
      pingInterval: pingEveryMs,
      commandsQueueMaxLength: commandsMax,
      disableOfflineQueue: true,
    })
    let isAway = false
    // Without an error listener the client would end the process. Each failed attempt to reconnect emits an error.
    client.on('error', (err: unknown) => {
      if (!isAway) log.warn({ err }, 'Redis does not answer; limits are counted by each process alone')
      isAway = true
    })
    client.on('ready', () => {
      isAway = false
    })
    return client
  }
  const [commands, notices] = [open(), open()]
  const close = () => {
    for (const client of [commands, notices]) if (client.isOpen) client.destroy()
  }
  try {
    // Uses the machine's clock, because real sockets open.
    await within(systemClock, connectMs, Promise.all([commands.connect(), notices.connect()]), 'no answer')
  } catch (cause) {
    close()
    throw new Error('The server that REDIS_URL names does not answer. Start it, or remove the setting.', { cause })
  }

  async function send<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (cause) {
      if (cause instanceof ErrorReply && !passing.test(cause.message)) throw cause
      throw new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1, cause })
    }
  }

  /**
   * Runs a script by its digest. The server loses its scripts when it restarts; then the script's text is sent again.
   */
  async function runCached({ text, sha1 }: Script, options: { keys: string[]; arguments: string[] }): Promise<unknown> {
    try {
      return await commands.evalSha(sha1, options)
    } catch (error) {
      if (error instanceof ErrorReply && error.message.startsWith('NOSCRIPT')) return commands.eval(text, options)
      throw error
    }
  }

  return {
    run: (step, keys, values) =>
      send(() => runCached(step, { keys: keys.map((key) => keyPrefix + key), arguments: values.map(String) })),
    setOnce: async (key, lifeMs) => {
      const expiration = { type: 'PX' as const, value: lifeMs }
      return (await send(() => commands.set(keyPrefix + key, '1', { condition: 'NX', expiration }))) === 'OK'
    },
    listen: async (channel, received) => {
      notices.on('ready', received)
      await notices.subscribe(keyPrefix + channel, received)
    },
    close,
  }
}
