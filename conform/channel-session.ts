/** Opens sockets and runs one whole session on each channel. */
import { faultsIf } from './answer.ts'
import type { Conformance } from './conformance.ts'
import type { Channel } from './contract.ts'
import type { Fixtures } from './fixtures.ts'
import { authorization } from './requests.ts'
import { type Inapplicable, inapplicable } from './results.ts'
import { Talk } from './talk.ts'

export type Listen = { run: Conformance; fixtures: Fixtures; channel: Channel }
type Opening = { path: string; protocols: readonly string[]; headers: Record<string, string> }

/** Returns the path and the credentials of a new socket. A media channel needs a new session. */
export async function opening({ run, fixtures, channel }: Listen): Promise<Opening> {
  const protocols = [channel.subprotocol]
  if (!channel.address.includes('{')) return { path: channel.address, protocols, headers: authorization(run.keys.key) }
  const { path, token } = await fixtures.seat()
  return { path, protocols: [...protocols, `${channel.credentialPrefix}${token}`], headers: {} }
}

export async function open(listen: Listen): Promise<Talk | Inapplicable> {
  const { path, protocols, headers } = await opening(listen)
  const talk = listen.run.connect(path, protocols, headers)
  if (await talk.opened()) return talk
  talk.end()
  return inapplicable(`the socket is answered ${talk.refusal?.status ?? 'nothing'}`)
}

const sessions = new WeakMap<Conformance, Map<string, Promise<Talk | Inapplicable>>>()

/** Runs one session from its first frame to its end. The checks share this session. */
export function finished(listen: Listen): Promise<Talk | Inapplicable> {
  const known = sessions.get(listen.run) ?? new Map<string, Promise<Talk | Inapplicable>>()
  sessions.set(listen.run, known)
  const session = known.get(listen.channel.id) ?? whole(listen)
  known.set(listen.channel.id, session)
  return session
}

async function whole(listen: Listen): Promise<Talk | Inapplicable> {
  const { channel } = listen
  const talk = await open(listen)
  if (!(talk instanceof Talk)) return talk
  const played = plays[channel.id]
  if (played === undefined) {
    talk.end()
    return inapplicable('this release has no session for the channel')
  }
  await played(talk, listen)
  return talk
}

type Play = (talk: Talk, listen: Listen) => Promise<void>

/** One session for each channel. A channel without a row is reported as not applicable. */
const plays: Readonly<Record<string, Play>> = {
  async transcribeStream(talk, { fixtures }) {
    talk.send({ type: 'config', language: 'en', encoding: 'pcm_s16le', sampleRate: 16_000 })
    if ((await talk.first('ready')) === null) return
    talk.send({ type: 'ping' })
    const recording = await fixtures.recording()
    for (let at = 44; at < recording.length; at += pieceBytes) talk.socket.send(recording.subarray(at, at + pieceBytes))
    talk.send({ type: 'end' })
    await talk.closed()
  },
  async synthesizeStream(talk) {
    talk.send({ type: 'config' })
    if ((await talk.first('ready')) === null) return
    talk.send({ type: 'ping' })
    talk.send({ type: 'text', text: 'Your table is booked for seven.', flush: true })
    talk.send({ type: 'end' })
    await talk.closed()
  },
  async transcriptionRealtime(talk, { channel }) {
    if ((await talk.first('session.created')) === null) return
    talk.send(channel.receives.get('session.update')?.[0])
    await talk.first('session.updated')
    talk.socket.close()
    await talk.closed()
  },
  async sessionMedia(talk) {
    if ((await talk.first('ready')) === null) return
    talk.send({ type: 'ping' })
    talk.send({ type: 'user_message', text: 'When do you open on Sundays?' })
    await talk.first('agent_message')
    talk.send({ type: 'end' })
    await talk.closed()
  },
}

/** Speech in 16-bit samples is sent in pieces of 100 ms. */
const pieceBytes = 3_200

/** Returns the faults in a session's frames: an undeclared type, or an invalid payload. */
export function channelFaults({ run, channel }: Listen, talk: Talk): string[] {
  const validators = run.surface(channel.surface).validators.frames(channel.id) ?? {}
  return [
    ...faultsIf(talk.broken.length > 0, `${talk.broken.length} text frames are not JSON`),
    ...talk.frames.flatMap((frame) => {
      const validate = validators[frame.type]
      if (validate === undefined) return [`the type ${frame.type} is not declared`]
      const isValid = validate(frame)
      const [violation] = validate.errors ?? []
      return faultsIf(!isValid, `${frame.type}: ${violation?.instancePath || 'the frame'} ${violation?.message}`)
    }),
  ]
}
