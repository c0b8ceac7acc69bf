/** The realtime API: our stream channels, and realtime transcription for OpenAI's clients. */
import type { EphemeralTokens } from '../../domain/access/ephemeral.ts'
import { grantOf, type WatchGrant } from '../../domain/access/revocations.ts'
import type { Operations } from '../../domain/operations.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { type RealtimeHandlers, realtimeSurface, widenRealtimeHandlers } from '../../generated/realtime/channels.ts'
import type { SocketMount } from '../../runtime/engine/options.ts'
import type { SocketContext } from '../../runtime/engine/socket.ts'
import { type AuthenticateDeps, createAuthenticate } from '../authenticate.ts'
import { accessOf } from '../contract-access.ts'
import { compatPlaces } from '../faults/places.ts'
import { createFaultWriter } from '../faults/writer.ts'
import { type OpenSession, type Revocable, revocable } from '../revocable.ts'
import type { SurfaceSettings } from '../surface.ts'
import { createAdmit, type SocketCaller } from './admit.ts'
import { Deadlines } from './deadlines.ts'
import type { SocketTimes } from './stream-socket.ts'
import { synthesizeStream } from './synthesize-stream.ts'
import { transcribeStream } from './transcribe-stream.ts'
import { transcriptionRealtime } from './transcription-realtime.ts'

export type RealtimeDeps = AuthenticateDeps & {
  operations: Operations
  redeem: EphemeralTokens['redeem']
  watchGrant: WatchGrant
  clock: Clock
  region: string
  times: SocketTimes
  /** The longest wait for an utterance's last transcript after a commit. */
  commitMs: number
  /** The longest text in one frame. */
  textCharactersMax: number
  sessionId(): string
}

export function mountRealtime(settings: SurfaceSettings, deps: RealtimeDeps): SocketMount {
  const { operations, redeem, owners } = deps
  const words = { contract: '/asyncapi/realtime.json', hasIdempotencyKeys: false, places: compatPlaces }
  return {
    surface: realtimeSurface,
    basePath: '',
    host: settings.host,
    handlers: widenRealtimeHandlers(handlersOf(deps)),
    admit: createAdmit({ authenticate: createAuthenticate(deps), redeem, owners, admitStream: operations.admitStream }),
    writeFault: createFaultWriter({ ...settings, ...words }),
  }
}

const grantFor = ({ caller, channelId }: SocketContext<SocketCaller>) =>
  grantOf(caller, accessOf(realtimeSurface.channels, channelId))

function handlersOf({ operations, clock, watchGrant, ...deps }: RealtimeDeps): RealtimeHandlers<SocketCaller> {
  const { catalog, transcribeStream: transcribe, synthesizeStream: synthesize } = operations
  const check = operations.checkTranscribeStream
  const shared = { ...deps, catalog, deadlines: new Deadlines(clock) }
  const watched = <Session extends Revocable>(open: OpenSession<SocketCaller, Session>) =>
    revocable(watchGrant, grantFor, open)
  return {
    transcribeStream: watched(transcribeStream({ ...shared, transcribe })),
    synthesizeStream: watched(synthesizeStream({ ...shared, synthesize })),
    transcriptionRealtime: watched(
      transcriptionRealtime({ ...shared, transcribe, check, silenceMs: deps.times.silenceMs }),
    ),
  }
}
