import type { Caller } from './organization.ts'

/** The program or the person that has changed something. */
export type Author = { type: 'api_key' | 'user'; id: string }

/** A user's id is the key id of the caller. */
export const authorOf = ({ role, keyId }: Caller): Author => ({
  type: role === undefined ? 'api_key' : 'user',
  id: keyId,
})
