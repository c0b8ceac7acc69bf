/** The shared resources: how one organization fills each of them, and which request of another organization shows it. */
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
}

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
  { name: 'SIP transactions', attack: 'sipOptions', probe: 'invite', everyMs: 250 },
  { name: 'SIP look-ups', attack: 'sipStrangers', probe: 'invite', everyMs: 250 },
]
