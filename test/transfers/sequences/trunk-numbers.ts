/** How the far ends of a trunk act, by the last digits of their numbers, as those of the simulated carrier do. */

export type FarEnd = {
  /** The answer to INVITE or REFER before any other. Null: it is taken. */
  refuses: number | null
  /** The answer of the person who declines. */
  says: number | null
  answersMs: number | null
  /** From the answer on. */
  leavesMs: number | null
  /** It leaves in the place of the news that somebody has answered. */
  isSilent: boolean
}

const person: FarEnd = { refuses: null, says: null, answersMs: 1_000, leavesMs: null, isSilent: false }
const byDigits: Readonly<Record<string, Partial<FarEnd>>> = {
  '01': { refuses: 403 },
  '02': { answersMs: null },
  '03': { says: 486, answersMs: null },
  '04': { says: 603, answersMs: null },
  '05': { says: 482, answersMs: null },
  '07': { answersMs: 20_000 },
  '17': { refuses: 404 },
  '20': { leavesMs: 2_000 },
  '21': { leavesMs: 1_000 },
  '24': { refuses: 503 },
}
const ofReferral: Readonly<Record<string, Partial<FarEnd>>> = {
  '08': { refuses: 405 },
  '11': { refuses: 603 },
  '20': { isSilent: true },
  '22': { isSilent: true },
}

export function farEndOf(number: string, isReferral: boolean): FarEnd {
  const digits = number.slice(-2)
  return { ...person, ...byDigits[digits], ...(isReferral && ofReferral[digits]) }
}
