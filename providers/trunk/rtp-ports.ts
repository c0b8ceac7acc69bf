/** The audio of the legs of trunks, as their signalling needs it. */
import type { MediaSink, MediaTransport } from '../../domain/ports/media.ts'
import type { KeyWay } from './pressed-keys.ts'
import type { RemoteAudio } from './sdp.ts'

export interface RtpPorts {
  /** Rejects when all ports are in use. */
  open(leg: RtpLegOptions): Promise<RtpLeg>
}

export type RtpLegOptions = {
  /** The rate of the conversation. */
  sampleRateHz: number
  /** The messages of the call come from here. */
  signalingAddress: string
  /** Called once, when the audio begins. */
  joined(transport: MediaTransport): MediaSink
  /** A key was pressed. The sink receives it too. */
  dtmf(digit: string): void
}

/** `formats`: further ones that may come. */
export type RtpRemote = Pick<
  RemoteAudio,
  'address' | 'port' | 'encoding' | 'payloadType' | 'dtmfPayloadType' | 'direction'
> &
  Partial<Pick<RemoteAudio, 'formats'>>

export interface RtpLeg {
  /** It takes packets here. */
  readonly port: number
  /** How long a packet that comes now waits in the jitter buffer behind others. */
  readonly jitterMs: number
  /** Since the last packet of the other side, or since the audio began. Packets of comfort noise and of keys count too. */
  readonly quietMs: number
  /** Those of the other side since the audio began, of any kind. */
  readonly packets: number
  /** The audio begins, or goes on at another address. */
  start(remote: RtpRemote): void
  /** False: nothing can be sent to the other side now, as while it holds the call. */
  sendDtmf(digits: string): boolean
  /** The other side has pressed a key, and has said so in a message of the call. */
  pressed(digit: string, way: KeyWay): void
  /** Each leg receives the audio and the keys of the other from now on, in place of those of its conversation. */
  connect(other: RtpLeg): void
  /** The sink receives `gone` if the audio has begun. */
  close(): void
}
