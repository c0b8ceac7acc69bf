/** Makes a language's table of spoken numbers from 0 to 999, as digits. Callers dictate numbers in such groups. */

export type NumeralWords = {
  /** The digits 0 to 9. Words with `/` between them are variants. */
  digits: string
  /** The numbers 10 to 19. */
  teens: string
  /** The tens 20 to 90, with `_` for a space inside a word. */
  tens: string
  /** Joins the words for a ten and a digit. The result may be several spellings. */
  join: (ten: string, digit: string) => readonly string[]
  /** Returns the spellings for 100 to 900. `digit` is the word before the hundred; it is empty for 100. */
  hundred: (digit: string) => readonly string[]
  /** The words between the hundreds and the rest of the number. An empty string joins both in one word. */
  links: readonly string[]
  /** Other numbers, and words that stand for a digit without naming it, such as "double". */
  others?: Readonly<Record<string, string>>
}

export function numeralTable(words: NumeralWords): ReadonlyMap<string, string> {
  const table = new Map<string, string>()
  const digits = listed(words.digits)
  for (const [digit, spellings] of digits.entries()) for (const each of spellings) table.set(each, `${digit}`)
  for (const [at, spellings] of listed(words.teens).entries())
    for (const each of spellings) table.set(each, `${10 + at}`)
  for (const [at, spellings] of listed(words.tens).entries())
    for (const ten of spellings) addTen(table, ten, at + 2, digits, words)
  for (const [spoken, number] of Object.entries(words.others ?? {})) table.set(spoken, number)
  addHundreds(table, digits, words)
  return table
}

function addTen(
  table: Map<string, string>,
  ten: string,
  value: number,
  digits: readonly (readonly string[])[],
  { join }: NumeralWords,
): void {
  table.set(ten, `${value}0`)
  for (const [digit, spellings] of digits.entries())
    for (const each of digit === 0 ? [] : spellings.flatMap((word) => join(ten, word)))
      table.set(each, `${value}${digit}`)
}

function addHundreds(
  table: Map<string, string>,
  digits: readonly (readonly string[])[],
  { hundred, links }: NumeralWords,
): void {
  const rests = [...table].filter(([, number]) => /^\d{1,2}$/.test(number) && number !== '0')
  for (const [digit, spellings] of digits.entries())
    for (const hundreds of digit === 0
      ? []
      : spellings.flatMap((word) => [...hundred(word), ...(digit === 1 ? hundred('') : [])])) {
      table.set(hundreds, `${digit}00`)
      for (const [rest, number] of rests)
        for (const link of links) table.set(`${hundreds}${link}${rest}`, `${digit}${number.padStart(2, '0')}`)
    }
}

function listed(words: string): readonly (readonly string[])[] {
  return words.split(' ').map((variants) => variants.split('/').map((variant) => variant.replaceAll('_', ' ')))
}
