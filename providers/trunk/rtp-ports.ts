/** The interface between the SIP code and the RTP audio for trunk legs. */
import type { MediaSink, MediaTransport } from '../../domain/ports/media.ts'
import type { KeyWay } from './pressed-keys.ts'
import type { RemoteAudio } from './sdp.ts'

export interface RtpPorts {
  /** Opens a port for a leg. Rejects if all ports are in use. */
  open(leg: RtpLegOptions): Promise<RtpLeg>
}

export type RtpLegOptions = {
  /** The conversation's sample rate. */
  sampleRateHz: number
  /** The source address of the call's SIP messages. */
  signalingAddress: string
  /** Called once, when the audio begins. */
  joined(transport: MediaTransport): MediaSink
  /** Called for each DTMF key from the other side. The conversation's sink receives the key too. */
  dtmf(digit: string): void
}

/** The IP address, port and formats of the other side's audio. `formats` lists all formats the other side may send. */
export type RtpRemote = Pick<
  RemoteAudio,
  'address' | 'port' | 'encoding' | 'payloadType' | 'dtmfPayloadType' | 'direction'
> &
  Partial<Pick<RemoteAudio, 'formats'>>

export interface RtpLeg {
  /** The local port for incoming packets. */
  readonly port: number
  /** The jitter buffer's current delay for a new packet, in milliseconds. */
  readonly jitterMs: number
  /**
   * Milliseconds since the other side's last packet, or since the audio began. Comfort noise and key events count as
   * packets too.
   */
  readonly quietMs: number
  /** The number of packets from the other side since the audio began. */
  readonly packets: number
  /** Starts the audio, or sends it to another IP address and port. */
  start(remote: RtpRemote): void
  /** Sends DTMF keys. Returns false if the other side cannot receive audio now, for example while it holds the call. */
  sendDtmf(digits: string): boolean
  /** Handles a DTMF key reported in a SIP message (INFO). */
  pressed(digit: string, way: KeyWay): void
  /** Connects two legs: each leg then receives the other leg's audio and keys instead of its conversation's audio. */
  connect(other: RtpLeg): void
  /** Closes the port. If the audio has begun, the sink receives `gone`. */
  close(): void
}
