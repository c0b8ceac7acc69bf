/** French units, symbols and abbreviations. */
import { currenciesOf } from './currencies.ts'
import { cardinal, fraction, genderOf, mixed } from './fr-numbers.ts'
import { frenchRules } from './fr-rules.ts'
import type { Language } from './language.ts'
import { decimalsAsNumber, nounsOf } from './numbers.ts'
import { wordsOf } from './rule.ts'

const units = `
km | kilomètre | kilomètres
m | mètre | mètres
cm | centimètre | centimètres
mm | millimètre | millimètres
µm,μm | micromètre | micromètres
nm | nanomètre | nanomètres
km²,km2 | kilomètre carré | kilomètres carrés
m²,m2 | mètre carré | mètres carrés
cm²,cm2 | centimètre carré | centimètres carrés
m³,m3 | mètre cube | mètres cubes
cm³,cm3 | centimètre cube | centimètres cubes
kg,Kg | kilogramme | kilogrammes
g | gramme | grammes
mg | milligramme | milligrammes
µg,μg | microgramme | microgrammes
t | tonne | tonnes | f
l,L | litre | litres
ml,mL | millilitre | millilitres
cl | centilitre | centilitres
dl | décilitre | décilitres
km/h | kilomètre par heure | kilomètres par heure
m/s | mètre par seconde | mètres par seconde
h | heure | heures | f
min,mn | minute | minutes | f
s,sec | seconde | secondes | f
ms | milliseconde | millisecondes | f
µs,μs | microseconde | microsecondes | f
j | jour | jours
Hz | hertz | hertz
kHz | kilohertz | kilohertz
MHz | mégahertz | mégahertz
GHz | gigahertz | gigahertz
W | watt | watts
kW | kilowatt | kilowatts
MW | mégawatt | mégawatts
GW | gigawatt | gigawatts
kWh | kilowattheure | kilowattheures
V | volt | volts
kV | kilovolt | kilovolts
A | ampère | ampères
mA | milliampère | milliampères
mAh | milliampère-heure | milliampères-heures
Ω | ohm | ohms
Ko,ko,KB,kB | kilo-octet | kilo-octets
Mo,MB | mégaoctet | mégaoctets
Go,GB | gigaoctet | gigaoctets
To,TB | téraoctet | téraoctets
Mbit/s,Mb/s,Mbps | mégabit par seconde | mégabits par seconde
Gbit/s,Gb/s,Gbps | gigabit par seconde | gigabits par seconde
dB | décibel | décibels
cal | calorie | calories | f
kcal | kilocalorie | kilocalories | f
kJ | kilojoule | kilojoules
hPa | hectopascal | hectopascals
ha | hectare | hectares
px | pixel | pixels
°C,° C,ºC,℃ | degré Celsius | degrés Celsius
°F,° F,ºF,℉ | degré Fahrenheit | degrés Fahrenheit
°,º | degré | degrés
′ | pied | pieds
″ | pouce | pouces
mois | mois | mois
`

const currencies = `
EUR | euro | euros | centime | centimes
USD | dollar | dollars | cent | cents
GBP | livre | livres | penny | pence | f
JPY | yen | yens
CHF | franc suisse | francs suisses | centime | centimes
CAD | dollar canadien | dollars canadiens | cent | cents
AUD | dollar australien | dollars australiens | cent | cents
NZD | dollar néo-zélandais | dollars néo-zélandais | cent | cents
HKD | dollar de Hong Kong | dollars de Hong Kong | cent | cents
SGD | dollar de Singapour | dollars de Singapour | cent | cents
CNY | yuan | yuans | fen | fens
INR | roupie | roupies | paisa | paisas | f
RUB | rouble | roubles | kopeck | kopecks
KRW | won | wons
TRY | livre turque | livres turques | kuruş | kuruş | f
UAH | hryvnia | hryvnias | kopeck | kopecks | f
ILS | shekel | shekels | agora | agorot | m | f
THB | baht | bahts | satang | satangs
VND | dong | dongs
NGN | naira | nairas | kobo | kobos
PHP | peso philippin | pesos philippins | centavo | centavos
GHS | cedi | cedis | pesewa | pesewas
KZT | tenge | tenges | tiyn | tiyns
AZN | manat | manats | qəpik | qəpiks
GEL | lari | laris | tetri | tetris
CRC | colon | colons | centime | centimes
PYG | guarani | guaranis
MNT | tugrik | tugriks
BTC | bitcoin | bitcoins
SEK | couronne | couronnes | öre | öre | f
NOK | couronne norvégienne | couronnes norvégiennes | öre | öre | f
DKK | couronne danoise | couronnes danoises | öre | öre | f
PLN | zloty | zlotys | grosz | groszy
CZK | couronne tchèque | couronnes tchèques | heller | hellers | f
HUF | forint | forints
RON | leu | lei | ban | bani
BGN | lev | leva | stotinka | stotinki | m | f
MXN | peso mexicain | pesos mexicains | centavo | centavos
BRL | real | reals | centavo | centavos
ARS | peso argentin | pesos argentins | centavo | centavos
CLP | peso chilien | pesos chiliens
COP | peso colombien | pesos colombiens | centavo | centavos
PEN | sol | soles | centime | centimes
ZAR | rand | rands | cent | cents
SAR | riyal | riyals | halala | halalas
AED | dirham | dirhams | fils | fils
EGP | livre égyptienne | livres égyptiennes | piastre | piastres | f | f
MAD | dirham marocain | dirhams marocains | centime | centimes
KES | shilling kényan | shillings kényans | cent | cents
MYR | ringgit | ringgits | sen | sens
IDR | roupie indonésienne | roupies indonésiennes | | | f
XOF | franc C F A | francs C F A
CENT | cent | cents
`

const scales = `
M | million | millions
Md,Mds,Mrd | milliard | milliards
mille | mille | mille
`

const signs = `
× | fois
÷ | divisé par
± | plus ou moins
− | moins
= | égale
≤ | au plus
≥ | au moins
≠ | différent de
≈ ∼ ≃ | environ
≡ | identique à
< | inférieur à
> | supérieur à
≪ | très inférieur à
≫ | très supérieur à
→ ⇒ ➜ ➡ ⟶ | vers
← ⇐ | depuis
↔ ⇔ | aller et retour
↑ | en haut
↓ | en bas
∞ | infini
√ | racine carrée de
∛ | racine cubique de
∑ | somme de
∫ | intégrale de
∂ | partiel
∆ | delta
∈ | dans
∧ | et
∨ | ou
¬ | non
⌀ | diamètre
‱ | pour dix mille
% ﹪ ％ | pour cent
‰ | pour mille
⁺ | plus
⁻ | moins
§ | paragraphe
¶ | alinéa
№ | numéro
& ＆ | et
@ | arobase
# | dièse
+ | plus
* | étoile
^ | puissance
_ | tiret bas
\\ | barre oblique inverse
~ | environ
© | copyright
® | marque déposée
™ | marque commerciale
℗ | copyright
† ‡ | note
° º | degrés
ª | a
♯ | sharp
✓ ✔ ✅ ☑ | oui
❌ ✖ ✗ ✘ | non
µ | micro
Ω Ω | ohms
/ ⁄ ∕ | barre oblique
`

const addressSigns = `
. | point
@ | arobase
- | tiret
_ | tiret bas
/ | barre oblique
: | deux points
? | point d'interrogation
= | égale
& | et
# | dièse
% | pour cent
+ | plus
~ | tilde
, | virgule
; | point-virgule
! | point d'exclamation
* | étoile
$ | dollar
( | parenthèse ouvrante
) | parenthèse fermante
' | apostrophe
\\ | barre oblique inverse
`

const abbreviations = `
p.ex. | par exemple
c.-à-d. càd | c'est-à-dire
etc. | et cetera.
Mme | madame
Mmes | mesdames
Mlle | mademoiselle
Mlles | mesdemoiselles
Mgr | monseigneur
Dr Dr. | docteur
Pr Pr. | professeur
Me | maître
St | saint
Ste | sainte
av. Av. | avenue
bd Bd bd. Bd. blvd. | boulevard
pl. | place
rte | route
env. | environ
max. | maximum
min. | minimum
moy. | moyenne
incl. | inclus
cf. | confer
ex. Ex. | exemple
art. Art. | article
chap. Chap. | chapitre
fig. Fig. | figure
vol. | volume
éd. | édition
tél. Tél. | téléphone
rdv RDV | rendez-vous
qqch. | quelque chose
qqn | quelqu'un
hab. | habitants
apr. | après
dép. | département
suppl. | supplément
réf. Réf. | référence
J.-C. | Jésus-Christ.
J.C. | Jésus-Christ.
S.A. | société anonyme.
S.A.R.L. | S A R L
vs. vs | contre
TTC | toutes taxes comprises
HT | hors taxes
`

export const fr: Language = {
  tag: 'fr',
  decimalMark: ',',
  groupMarks: ". \\u00a0\\u202f'’",
  isAscii: false,
  phrases: {
    minus: 'moins',
    plus: 'plus',
    to: 'à',
    point: 'virgule',
    dot: 'point',
    per: 'par',
    number: 'numéro',
    hashtag: 'hashtag',
    squared: 'au carré',
    cubed: 'au cube',
    power: 'puissance',
    foreign: 'mot étranger',
    sign: 'symbole',
    extension: 'poste',
    and: 'et',
    or: 'ou',
    ofScale: (scale, noun) =>
      scale === 'mille' ? `mille ${noun}` : /^[aeiouyéh]/i.test(noun) ? `${scale} d'${noun}` : `${scale} de ${noun}`,
    money: (major, { amount }) => `${major} ${amount}`,
    letters: (letters) => letters.join(' '),
  },
  cardinal,
  decimals: (digits) => decimalsAsNumber(digits, cardinal),
  year: cardinal,
  phoneGroup: (digits) =>
    digits.length === 2 && !digits.startsWith('0')
      ? cardinal(digits)
      : [...digits].map((digit) => cardinal(digit)).join(' '),
  fraction,
  mixed,
  genderOf,
  units: nounsOf(units),
  currencies: currenciesOf(currencies),
  scales: nounsOf(scales),
  signs: wordsOf(signs),
  addressSigns: wordsOf(addressSigns),
  abbreviations: wordsOf(abbreviations),
  codeWords: 'code|pin|mot de passe|tapez|composez|appelez|appuyez sur|poste|vol|se terminant par|finissant par',
  versionWord: 'version',
  rules: frenchRules,
}
