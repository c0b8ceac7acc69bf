/** Signs without an ASCII form, as the embedded voice says them: no sign that changes the meaning is lost. */
import t from 'tap'
import { sentences } from '../../providers/local/sentences.ts'

const rows: [text: string, said: string][] = [
  ['Take ½ tablet', 'Take one half tablet'],
  ['Take 2½ tablets or 1 ¼', 'Take 2 and a half tablets or 1 and a quarter'],
  ['⅔ cup, 1⁄2 spoon', 'two thirds cup, 1/2 spoon'],
  ['5 €', '5 euros'],
  ['It costs 5€.', 'It costs 5 euros.'],
  ['€1, 1 €, €1.50 and 11 €', '1 euro, 1 euro, 1.50 euros and 11 euros'],
  ['£5 and €3.50', '5 pounds and 3.50 euros'],
  ['¥500, 20 ₹ and 5 ¢', '500 yen, 20 rupees and 5 cents'],
  ['It is −5 °C, not 20°F', 'It is minus 5 degrees Celsius, not 20 degrees Fahrenheit'],
  ['Turn 90°', 'Turn 90 degrees'],
  ['From 9–5 on 3 — 4', 'From 9 to 5 on 3 to 4'],
  ['Yes – really', 'Yes, really'],
  ['3 × 4 ÷ 2 ± 1', '3 times 4 divided by 2 plus or minus 1'],
  ['a ≤ 5, b ≥ 6, c ≠ 7, d ≈ 8', 'a at most 5, b at least 6, c not equal to 7, d about 8'],
  ['20 m² and 5³', '20 m squared and 5 cubed'],
  ['Take 50 µg', 'Take 50 micrograms'],
  ['§ 5, № 7, 3 ‰', 'section 5, number 7, 3 per mille'],
  ['Café naïve', 'Cafe naive'],
]

t.test('signs that change a meaning are said', (t) => {
  for (const [text, said] of rows) {
    const [first] = sentences(text, 300)
    t.equal(first?.text, said, text)
    const end = first?.sourcePlace(said.length) ?? 0
    t.ok(end >= text.length - 1, 'the text is said up to its last sign')
  }
  t.end()
})
