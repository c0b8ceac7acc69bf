/**
 * The shared resources: how one organization fills each resource, and which request of another organization shows the
 * effect. docs/isolation.md says when a resource holds.
 */
import type { Attack } from './attacks.ts'
import type { Probe } from './probes.ts'

export type Resource = {
  name: string
  attack: Attack
  probe: Probe
  /** The time from one probe to the next. */
  everyMs: number
  /** Settings besides the usual settings. */
  settings?: object
  /** The attack fills the resource in this time. The default is 3 s. */
  filledMs?: number
  /**
   * Returns the highest p99 allowed beside the attack, from the p99 without an attack. The default is `usualLimitMs`.
   */
  limitMs?: (aloneMs: number) => number
}

/** The requirement: "For each of 12 resources: p99 <= 2 x alone + 100 ms". */
export const usualLimitMs = (aloneMs: number) => 2 * aloneMs + 100
/** The requirement: "10,000 SIP packets a minute: another trunk's INVITE answered p99 <= 200 ms". */
const inviteLimitMs = () => 200
/** Both requirements apply to a trunk's packets, so the lower limit counts. */
const bothLimitsMs = (aloneMs: number) => Math.min(usualLimitMs(aloneMs), inviteLimitMs())
/**
 * The requirement: "5,000 half-open connections: others' p99 <= 2 x". The 100 ms for the shared resources are not added
 * here.
 */
const halfOpenLimitMs = (aloneMs: number) => 2 * aloneMs

export const resources: readonly Resource[] = [
  { name: 'connections to a provider', attack: 'unreadStreams', probe: 'answer', everyMs: 100 },
  { name: 'requests under way', attack: 'hangingRequests', probe: 'answer', everyMs: 100 },
  { name: 'request bodies', attack: 'slowBodies', probe: 'answer', everyMs: 100 },
  { name: 'upload memory', attack: 'heldUploads', probe: 'recognition', everyMs: 500 },
  { name: 'sockets', attack: 'idleSockets', probe: 'socket', everyMs: 250 },
  { name: 'voice sessions', attack: 'joinedSessions', probe: 'session', everyMs: 500 },
  { name: 'tools at one host', attack: 'hangingTools', probe: 'tool', everyMs: 1_000 },
  { name: 'circuit of a model', attack: 'stopWords', probe: 'stopped', everyMs: 100 },
  { name: 'recognition engines', attack: 'recognitions', probe: 'recognition', everyMs: 1_000 },
  { name: 'voice engines', attack: 'longTexts', probe: 'voice', everyMs: 1_000 },
  { name: 'SIP transactions', attack: 'sipOptions', probe: 'invite', everyMs: 250, limitMs: bothLimitsMs },
  { name: 'SIP look-ups', attack: 'sipInvites', probe: 'invite', everyMs: 250, limitMs: bothLimitsMs },
]

const toHttp = { probe: 'answer', everyMs: 100, limitMs: halfOpenLimitMs, filledMs: 10_000 } as const
const toSip = { probe: 'invite', everyMs: 250, limitMs: halfOpenLimitMs, filledMs: 10_000 } as const

/** These resources are measured only if an argument names them. */
export const furtherResources: readonly Resource[] = [
  {
    name: 'SIP OPTIONS of strangers',
    attack: 'strangersOptions',
    probe: 'invite',
    everyMs: 250,
    limitMs: inviteLimitMs,
  },
  {
    name: 'SIP INVITEs of strangers',
    attack: 'strangersInvites',
    probe: 'invite',
    everyMs: 250,
    limitMs: inviteLimitMs,
  },
  { name: 'half-open: HTTP without a byte', attack: 'silentConnections', ...toHttp },
  { name: 'half-open: HTTP heads', attack: 'halfHeads', ...toHttp },
  { name: 'half-open: HTTP bodies', attack: 'halfBodies', ...toHttp },
  { name: 'half-open: HTTP bodies without a key', attack: 'keylessHalfBodies', ...toHttp },
  { name: 'half-open: upgrades', attack: 'halfUpgrades', ...toHttp },
  { name: 'half-open: sockets without a message', attack: 'silentSockets', ...toHttp },
  { name: 'half-open: SIP over TCP without a byte', attack: 'silentTrunks', ...toSip },
  { name: 'half-open: SIP over TCP messages', attack: 'halfSipMessages', ...toSip },
]
