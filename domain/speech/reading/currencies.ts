/** The currencies' symbols. Each language's file has the words for the currencies, by currency code. */
import type { Currency, Gender } from './language.ts'
import { rowsOf } from './rule.ts'

/** Symbols that can precede or follow an amount, by the currency's code (ISO 4217). */
const signs = `
USD | $ US$ U$S US-$
CAD | C$ CA$ CAD$ Can$
AUD | A$ AU$
NZD | NZ$
HKD | HK$
SGD | S$
MXN | MX$ Mex$
BRL | R$
EUR | €
GBP | £ ￡
JPY | ¥ ￥ JP¥ 円
CNY | CN¥ 元
INR | ₹ Rs. Rs
RUB | ₽
KRW | ₩
TRY | ₺
UAH | ₴
ILS | ₪
THB | ฿
VND | ₫
NGN | ₦
PHP | ₱
GHS | ₵
KZT | ₸
AZN | ₼
GEL | ₾
CRC | ₡
PYG | ₲
MNT | ₮
BTC | ₿
PLN | zł
CZK | Kč
CHF | Fr. SFr. sFr.
SEK | kr kr.
CENT | ¢ ￠ ct
`

/** Returns a currency's code by its symbol or its code. */
export const codeOfSign: ReadonlyMap<string, string> = new Map(
  rowsOf(signs).flatMap(([code = '', all = '']) => all.split(' ').map((sign): [string, string] => [sign, code])),
)

/**
 * Reads a table with a currency in each row: its code, the words for one and for several, the words for a hundredth and
 * for several, and both genders if they are not masculine.
 */
export function currenciesOf(table: string): Map<string, Currency> {
  return new Map(
    rowsOf(table).map(([code = '', one = '', more = '', minorOne = '', minorMore = '', gender = 'm', other = 'm']) => {
      const minor = minorOne === '' ? null : { one: minorOne, more: minorMore || minorOne, gender: other as Gender }
      return [code, { major: { one, more: more || one, gender: gender as Gender }, minor }]
    }),
  )
}
