/** How a trunk's far ends act, by their numbers' last digits, like the simulated carrier's far ends. */

export type FarEnd = {
  /** The SIP code with which the far end refuses INVITE or REFER at once. Null: it accepts them. */
  refuses: number | null
  /** The SIP code with which the person declines. Null: the person does not decline. */
  says: number | null
  answersMs: number | null
  /** The time from the answer until the far end leaves. Null: it stays. */
  leavesMs: number | null
  /** True if the far end leaves without the final NOTIFY, although a person has answered. */
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
