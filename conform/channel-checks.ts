/** Checks on a WebSocket channel. Each check opens as many sockets as it needs. */
import { faultsIf } from './answer.ts'
import { channelFaults, finished, type Listen, open, opening } from './channel-session.ts'
import { isSuccess } from './probe.ts'
import { authorization, unknownKey } from './requests.ts'
import { type Found, inapplicable } from './results.ts'
import { Talk } from './talk.ts'

export type ChannelCheck = {
  number: number
  name: string
  otherwise: string
  listen: (listen: Listen) => Promise<Found>
}

export const channelChecks: readonly ChannelCheck[] = [
  { number: 52, name: 'the subprotocol is echoed', otherwise: 'it has no subprotocol', listen: subprotocol },
  { number: 53, name: 'credentials are checked, tokens once', otherwise: 'no socket opened', listen: credentials },
  { number: 54, name: 'frames are declared and valid', otherwise: 'no frame came', listen: frames },
  {
    number: 55,
    name: 'a wrong first frame closes by the table',
    otherwise: 'no frame must be first',
    listen: wrongFirst,
  },
  {
    number: 56,
    name: 'an unknown field is refused or taken',
    otherwise: 'no frame can have one',
    listen: unknownField,
  },
  { number: 57, name: 'one `end`, the last, and close 1000', otherwise: 'the protocol has no end', listen: oneEnd },
  { number: 58, name: 'binary frames have whole samples', otherwise: 'no audio came', listen: wholeSamples },
  { number: 59, name: 'ping is answered with pong', otherwise: 'it has no ping', listen: pingPong },
  { number: 60, name: 'a frame that is too large closes', otherwise: 'no socket opened', listen: tooLarge },
]

async function subprotocol(listen: Listen): Promise<Found> {
  const { channel, run } = listen
  const { path, protocols, headers } = await opening(listen)
  const talk = run.connect(path, protocols, headers)
  // The client's library ends the handshake itself if the server has not chosen one of the offered subprotocols.
  if (!(await talk.opened()) && talk.refusal === null) return [talk.failure]
  if (talk.refusal !== null) return inapplicable(`the socket is answered ${talk.refusal.status}`)
  const { protocol } = talk
  talk.end()
  const bare = run.connect(path, [], headers)
  const isOpen = await bare.opened()
  const isRefused = !isOpen || (await closesWithin(bare))
  bare.end()
  return [
    ...faultsIf(protocol !== channel.subprotocol, `the subprotocol is ${protocol || 'missing'}`),
    ...faultsIf(!channel.requiresSubprotocol && !isOpen, 'a socket without the optional subprotocol is refused'),
    ...faultsIf(channel.requiresSubprotocol && !isRefused && !('authorization' in headers), 'none is taken'),
  ]
}

/** How long the server may take to refuse a socket that it has opened, in milliseconds. */
const refusalMsMax = 500

async function closesWithin(talk: Talk): Promise<boolean> {
  await Promise.race([talk.closed(), new Promise((resolve) => setTimeout(resolve, refusalMsMax))])
  return talk.closeCode !== null
}

/** No server has issued this API key. A real key must not be in a URL, because servers and proxies log URLs. */
const unknownLiveKey = `sk_live_${'conform0'.repeat(6)}`

async function credentials(listen: Listen): Promise<Found> {
  const { run, channel } = listen
  const { path, protocols, headers } = await opening(listen)
  const separator = path.includes('?') ? '&' : '?'
  const inQuery = `${path}${separator}key=${unknownLiveKey}&api_key=${unknownLiveKey}`
  const faults: string[] = []
  for (const [name, at, wrong] of [
    ['a key in the query', inQuery, {}],
    ['no key', path, {}],
    ['an unknown key', path, authorization(unknownKey)],
  ] as const) {
    const { isOpen, status } = await attempt(run.connect(at, [channel.subprotocol], wrong))
    faults.push(
      ...faultsIf(isOpen, `${name} opens a socket`),
      ...faultsIf(!isOpen && status !== 401, `${name} is answered ${status ?? 'nothing'}, not 401`),
    )
  }
  const { isOpen, status } = await attempt(run.connect(path, protocols, headers))
  // Another refusal says nothing about the credentials: the server may have no provider for the socket.
  const isRefused = !isOpen && (status === 401 || status === 403)
  return [
    ...faults,
    ...faultsIf(isRefused, `the right credentials are answered ${status}`),
    ...(await tokenTwice(listen)),
  ]
}

async function attempt(talk: Talk): Promise<{ isOpen: boolean; status: number | undefined }> {
  const isOpen = await talk.opened()
  talk.end()
  return { isOpen, status: talk.refusal?.status }
}

/**
 * An ephemeral token opens only one socket, so this check opens two with one token. A session's media token is not
 * checked, because its holder may reconnect with it.
 */
async function tokenTwice(listen: Listen): Promise<string[]> {
  const { run, channel } = listen
  const minting = run.operation('createRealtimeSession')
  if (minting === null || channel.surface !== 'realtime') return []
  const received = await run.send(minting, { method: 'POST', path: minting.path, headers: authorization(run.keys.key) })
  if (!isSuccess(received)) return []
  const { value, client_secret: secret } = JSON.parse(received.body.toString()) as {
    value?: string
    client_secret?: { value?: string }
  }
  const token = value ?? secret?.value
  if (token === undefined) return [`${minting.id} answers no token`]
  const protocols = [channel.subprotocol, `${channel.credentialPrefix}${token}`]
  const first = run.connect(channel.address, protocols, {})
  const isOpen = await first.opened()
  const second = run.connect(channel.address, protocols, {})
  const isOpenAgain = await second.opened()
  first.end()
  second.end()
  return [
    ...faultsIf(first.refusal !== null, `a new token is answered ${first.refusal?.status}`),
    ...faultsIf(isOpen && isOpenAgain, 'a token opens two sockets'),
  ]
}

async function frames(listen: Listen): Promise<Found> {
  const talk = await finished(listen)
  if (!(talk instanceof Talk)) return talk
  return [...faultsIf(talk.frames.length === 0, 'a whole session has no frame'), ...channelFaults(listen, talk)]
}

async function wrongFirst(listen: Listen): Promise<Found> {
  const { channel, run } = listen
  if (!channel.receives.has('config')) return null
  const talk = await open(listen)
  if (!(talk instanceof Talk)) return talk
  talk.send({ type: 'end' })
  const error = await talk.first('error')
  await talk.closed()
  const code = String(error?.['code'])
  const row = run.surface(channel.surface).errors[code]
  return [
    ...faultsIf(error === null, 'a first frame other than config gets no error'),
    ...faultsIf(error !== null && row === undefined, `the code ${code} is not in the table`),
    ...faultsIf(row !== undefined && row.closeCode !== talk.closeCode, `${code} closes with ${talk.closeCode}`),
  ]
}

async function unknownField(listen: Listen): Promise<Found> {
  const { channel } = listen
  const name = ['config', 'ping', 'session.update'].find((each) => channel.receives.get(each)?.[0] !== undefined)
  if (name === undefined) return null
  const talk = await open(listen)
  if (!(talk instanceof Talk)) return talk
  talk.send({ ...(channel.receives.get(name)?.[0] as object), conform_unknown: 1 })
  const answers = { config: 'ready', ping: 'pong', 'session.update': 'session.updated' } as const
  const answer = answers[name as keyof typeof answers]
  await talk.until(() => talk.closeCode !== null || talk.order.includes(answer) || talk.order.includes('error'))
  const isTaken = talk.order.includes(answer)
  talk.end()
  return [
    ...faultsIf(isTaken && !channel.openFrames, `${name} with an unknown field is taken`),
    ...faultsIf(!isTaken && channel.openFrames, `${name} with an unknown field is refused`),
  ]
}

async function oneEnd(listen: Listen): Promise<Found> {
  if (!listen.channel.sends.includes('end')) return null
  const talk = await finished(listen)
  if (!(talk instanceof Talk)) return talk
  const ends = talk.order.filter((type) => type === 'end').length
  return [
    ...faultsIf(ends !== 1, `${ends} frames are \`end\``),
    ...faultsIf(ends > 0 && talk.order.at(-1) !== 'end', `${talk.order.at(-1)} follows \`end\``),
    ...faultsIf(talk.closeCode !== 1000, `it closes with ${talk.closeCode}`),
  ]
}

async function wholeSamples(listen: Listen): Promise<Found> {
  const talk = await finished(listen)
  if (!(talk instanceof Talk)) return talk
  if (talk.binary.length === 0) return null
  const odd = talk.binary.filter(({ length }) => length % 2 !== 0).length
  return faultsIf(odd > 0, `${odd} of ${talk.binary.length} binary frames have an odd length`)
}

async function pingPong(listen: Listen): Promise<Found> {
  if (!listen.channel.receives.has('ping')) return null
  const talk = await finished(listen)
  return talk instanceof Talk ? faultsIf(!talk.order.includes('pong'), 'no pong came') : talk
}

/** Larger than any frame that a channel takes, in bytes. */
const frameBytes = 32 * 1024 * 1024

async function tooLarge(listen: Listen): Promise<Found> {
  const talk = await open(listen)
  if (!(talk instanceof Talk)) return talk
  talk.socket.send(Buffer.alloc(frameBytes))
  const isClosed = await talk.closed()
  talk.end()
  return faultsIf(!isClosed, `a frame with ${frameBytes} bytes does not close the socket`)
}
