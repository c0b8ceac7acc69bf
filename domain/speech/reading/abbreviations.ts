/**
 * Says where a full stop does not end a sentence. The text's language is not known here, so the list has only
 * abbreviations that are not words in another language.
 */

/**
 * These abbreviations are also words, or end many sentences. They end no sentence only before a number or a small
 * letter: "mind. 3 Tage", but "Never mind. We open at nine."
 */
const months = 'jan feb febr mar mrz apr jun jul aug sep sept okt oct nov dez dec janv févr avr juil déc ene abr'
const weekdays = 'mon tue tues wed thu thur thurs fri sat sun'
const alsoWords = `${months} ${weekdays} no mind etc ex env inc ltd`
const titles =
  'mr mrs ms mx dr drs prof st mt jr sr sra srta sres dra lic gen rev capt lt col sgt gov hr hrn fr sig sigg dott avv egr spett mme mlle mgr ud uds gral'
const names = 'nr nrn vs dept fig ext av avda ave blvd abt abb abs bd kap núm nro pág tél tel chap apdo dpto ctra'
const words = 'approx appt bzw bzgl ca evtl ggf inkl exkl zzgl vgl sog insb aprox ej geb cfr incl excl acct'
const all = [titles, names, words].join(' ').split(' ').join('|')

/** In a word such as "Anna's.", the letter after the apostrophe is not an abbreviation. */
const abbreviation = new RegExp(String.raw`(?:^|[\s("“‘.\-–]|(?<!\p{L})')(?:\p{L}|${all})\.[ \t]*$`, 'iu')
const before = String.raw`(?:^|[\s("“‘.\-–])`
const wordAsWell = new RegExp(String.raw`${before}(?:${alsoWords.split(' ').join('|')})\.[ \t]*$`, 'iu')
/** "Fa. Müller" is a company, but in "due anni fa." it is an Italian word. */
const company = new RegExp(String.raw`${before}Fa\.[ \t]*$`, 'u')

/**
 * Returns true if the text ends with a single letter or a common abbreviation, and its full stop. `behind` is the text
 * behind it, or '' if it is not known yet.
 */
export function isAbbreviation(text: string, behind: string): boolean {
  if (abbreviation.test(text) || company.test(text)) return true
  return wordAsWell.test(text) && (behind === '' || /^\s*[\p{N}\p{Ll}]/u.test(behind))
}

/** German writes ordinals as a number with a full stop. After one of these words, any such number is an ordinal. */
const ordinalNumber =
  /(?:^|[^\p{L}\p{N}.,:])(?:(im|vom|zum|zur|beim|der|die|das|dem|den|des|jeden|jedem)[ \t]+)?\d{1,2}\.[ \t]+$/iu
const germanMonth = /^(?:Jan|Jän|Feb|Mär|Mrz|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)/
/** This many letters are enough to recognize a month. */
const monthLettersMin = 3

/**
 * Returns true if the text ends with a German ordinal, as in "am 3. März", or if too few letters follow to decide this.
 */
export function isOrdinal(text: string, behind: string): boolean {
  const match = ordinalNumber.exec(text)
  if (match === null) return false
  if (match[1] !== undefined || behind === '' || /^\p{Ll}/u.test(behind)) return true
  return germanMonth.test(behind) || (/^\p{Lu}\p{L}*$/u.test(behind) && behind.length < monthLettersMin)
}
