/** Opens a trunk line at a real port. Its connections, audio and events are stored in memory. */
import type { Test } from 'tap'
import type { LegDialogs } from '../../domain/ports/leg-dialogs.ts'
import type { MediaTransport } from '../../domain/ports/media.ts'
import type { LegEvent, LegToDial } from '../../domain/ports/phone-line.ts'
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { TrunkLimits } from '../../providers/trunk/limits.ts'
import { openTrunkLine } from '../../providers/trunk/phone-line.ts'
import type { RtpLeg, RtpLegOptions, RtpPorts, RtpRemote } from '../../providers/trunk/rtp-ports.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { TestClock } from '../clock.ts'
import { freePort } from '../process/machine.ts'
import { RecordingSink } from '../session/media-harness.ts'
import { type PeerOptions, SipPeer, wanted } from './sip-peer.ts'

export const legId = 'leg_0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b'
export const media = { url: 'ws://127.0.0.1/', token: 'right', sampleRateHz: 8000 } as const

/** A simulated RTP leg. It only counts its packets. */
export class CountedRtp implements RtpLeg {
  readonly port = 42_000
  readonly jitterMs = 0
  /** A test sets this time to make the far end seem quiet. */
  quietMs = 0
  packets = 0
  readonly starts: RtpRemote[] = []
  readonly digits: string[] = []
  readonly options: RtpLegOptions
  isClosed = false
  connected: RtpLeg | null = null

  constructor(options: RtpLegOptions) {
    this.options = options
  }

  start(remote: RtpRemote): void {
    this.starts.push(remote)
    if (this.starts.length === 1) this.options.joined({} as MediaTransport)
  }

  sendDtmf(digits: string): boolean {
    this.digits.push(digits)
    return true
  }

  pressed(digit: string): void {
    this.options.dtmf(digit)
  }

  connect(other: RtpLeg): void {
    this.connected = other
  }

  close(): void {
    this.isClosed = true
  }
}

export const plain: SipConnection = {
  id: 'sip_one',
  organizationId: 'org_one',
  outbound: null,
  inbound: { username: null, password: null },
}

export const limits: TrunkLimits = {
  ...{ legsMax: 2_000, legsPerOrganizationMax: 500, lookupsMax: 64, socketsMax: 256, socketsPerAddressMax: 32 },
  ...{ transactionsMax: 8192, strangerSocketsPerAddressMax: 2, firstMessageMs: 10_000, wrongLoginsPerMinuteMax: 10 },
  farEndQuietMs: 30_000,
}

export type TrunkSetup = {
  /** Connections that take calls from this machine. */
  known?: readonly SipConnection[]
  /** The IP addresses of `known`. If absent, every IP address. */
  addresses?: readonly string[]
  /** Connections that take calls by a login. */
  logins?: readonly SipConnection[]
  /** True if a connection with a login has imported the dialled number before the connections in `known` did. */
  wantsLogin?: boolean
  /** Connections for outbound calls. */
  outgoing?: () => readonly SipConnection[]
  /** The imported numbers, by connection id. */
  numbers?: Readonly<Record<string, readonly string[]>>
  /** True if a look-up by IP address fails. */
  isStoreAway?: () => boolean
  /** Looks up the connections by the dialled number, in place of `known`. */
  ofAddress?: (dialed: string) => Promise<readonly SipConnection[]>
  fails?: boolean
  owners?: Owners
  limits?: Partial<TrunkLimits>
  /** Called with each event. */
  received?: (event: LegEvent) => void
  /** The RTP ports for audio. If null, each leg is a `CountedRtp` and sends nothing. */
  rtp?: RtpPorts | null
  /** The store for SIP dialogs. Two trunk lines may share it, like two processes with one database. */
  dialogs?: LegDialogs
}

/** Makes a store for SIP dialogs in memory. Two trunk lines that share it act like two processes with one database. */
export function keptDialogs(): LegDialogs {
  const kept = new Map<string, string>()
  return {
    keep: ({ carrierLegId }, dialog) => Promise.resolve(void kept.set(carrierLegId, dialog)),
    find: (carrierLegId) => Promise.resolve(kept.get(carrierLegId) ?? null),
  }
}

/** Opens a SIP trunk line on a test clock, and returns the clock too. */
export async function openTrunk(t: Test, setup: TrunkSetup = {}) {
  const clock = new TestClock()
  return { ...(await openTrunkOn(t, clock, setup)), clock }
}

export async function openTrunkOn(t: Pick<Test, 'teardown'>, clock: Clock, setup: TrunkSetup) {
  const { known = [plain], logins = [], outgoing = () => [], fails = false, received = () => {} } = setup
  const { wantsLogin = false, rtp = null, dialogs = keptDialogs(), addresses } = setup
  const events: LegEvent[] = []
  const rtps: CountedRtp[] = []
  const sinks: RecordingSink[] = []
  const looks: [string, boolean][] = []
  /** Each registration result: accepted or not. */
  const registered: [string, boolean][] = []
  const warned: object[] = []
  const called: string[] = []
  const logged: string[] = []
  /** The user names in look-ups of connections by a login. */
  const asked: string[] = []
  const log = {
    info: () => {},
    warn: (fields: object, message: string) => {
      logged.push(message)
      warned.push({ ...fields, message })
    },
    error: (_fields: object, message: string) => void logged.push(message),
  }
  const connections: SipConnections = {
    find: (id) => Promise.resolve(outgoing().find((connection) => connection.id === id) ?? null),
    ofAddress: (address, dialed, registered) => {
      const named = addresses?.includes(address) === false ? [] : known
      const found = [...named, ...outgoing().filter(({ id, inbound }) => inbound !== null && registered.includes(id))]
      const place = ({ id }: SipConnection) => (setup.numbers?.[id]?.includes(dialed) === true ? 0 : 1)
      return setup.ofAddress?.(dialed) ?? Promise.resolve(found.sort((one, other) => place(one) - place(other)))
    },
    hasAddress: (id, address) => {
      if (setup.isStoreAway?.()) return Promise.reject(new Error('the store does not answer'))
      return Promise.resolve(addresses?.includes(address) !== false && known.some((connection) => connection.id === id))
    },
    ofUser: (username) => {
      asked.push(username)
      return Promise.resolve(logins.filter(({ inbound }) => inbound?.username === username))
    },
    wantsLogin: () => Promise.resolve(wantsLogin),
    probed: () => Promise.resolve(outgoing().filter(({ outbound }) => outbound?.register !== true)),
    registering: () => Promise.resolve(outgoing().filter(({ outbound }) => outbound?.register === true)),
    noteAnswer: (id, hasAnswered) => {
      looks.push([id, hasAnswered])
      return Promise.resolve()
    },
    noteRegistration: (id, isTaken) => {
      registered.push([id, isTaken])
      return Promise.resolve()
    },
    noteCall: (id) => {
      called.push(id)
      return Promise.resolve()
    },
  }
  const counted: RtpPorts = {
    open(options) {
      const rtp = new CountedRtp(options)
      rtps.push(rtp)
      return Promise.resolve(rtp)
    },
  }
  const line = await openTrunkLine({
    host: '127.0.0.1',
    port: await freePort(),
    publicAddress: '127.0.0.1',
    connections,
    dialogs,
    rtp: rtp ?? counted,
    legs: {
      open: (_legId, { token }) =>
        token === 'right'
          ? {
              sampleRateHz: 16_000,
              joined: (transport) => {
                sinks.push(new RecordingSink(transport))
                return sinks.at(-1)!
              },
              failed: () => {},
            }
          : null,
    },
    resolve: (host) => {
      // Node's resolver rejects so if it does not know the host.
      if (host === 'unknown.test') return Promise.reject(Object.assign(new Error(), { syscall: 'getaddrinfo' }))
      return Promise.resolve(host === 'nowhere.test' ? [] : ['127.0.0.1'])
    },
    received: (event) => {
      if (fails) return Promise.reject(new Error('the store does not answer'))
      events.push(event)
      received(event)
      return Promise.resolve()
    },
    owners: setup.owners ?? new Owners(),
    limits: { ...limits, ...setup.limits },
    clock,
    log,
  })
  const peers: SipPeer[] = []
  t.teardown(async () => {
    for (const peer of peers) peer.close()
    await line.close()
  })
  return {
    events,
    rtps,
    sinks,
    looks,
    registered,
    called,
    logged,
    warned,
    asked,
    line,
    async peer(options: Omit<PeerOptions, 'port'> = {}) {
      const peer = await SipPeer.open({ port: line.port, ...options })
      peers.push(peer)
      return peer
    },
    event: <T extends LegEvent['type']>(type: T) =>
      wanted(
        () => events.find((event): event is Extract<LegEvent, { type: T }> => event.type === type),
        `event ${type}`,
      ),
    types: () => events.map(({ type }) => type),
  }
}

export type Trunk = Awaited<ReturnType<typeof openTrunk>>

export const toDial = (more: Partial<LegToDial> = {}): LegToDial => ({
  legId,
  connectionId: 'sip_out',
  from: '+15550001111',
  to: '+15557654321',
  ringingTimeoutS: 30,
  timeLimitS: 3600,
  region: null,
  detectsMachine: null,
  media,
  headers: {},
  commandId: legId,
  ...more,
})

const addressing = { userPhone: false, identity: 'from', register: false } as const

export const outgoingTo = (
  port: number,
  more: Partial<NonNullable<SipConnection['outbound']>> = {},
): SipConnection => ({
  id: 'sip_out',
  organizationId: 'org_one',
  outbound: { host: 'trunk.test', port, transport: 'udp', username: null, password: null, ...addressing, ...more },
  inbound: null,
})
