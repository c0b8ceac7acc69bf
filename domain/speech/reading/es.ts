/** Spanish units, symbols and abbreviations. */
import { currenciesOf } from './currencies.ts'
import { cardinal, fraction, genderOf, mixed } from './es-numbers.ts'
import { spanishRules } from './es-rules.ts'
import type { Language } from './language.ts'
import { decimalsAsNumber, nounsOf } from './numbers.ts'
import { wordsOf } from './rule.ts'

const units = `
km | kilómetro | kilómetros
m | metro | metros
cm | centímetro | centímetros
mm | milímetro | milímetros
µm,μm | micrómetro | micrómetros
nm | nanómetro | nanómetros
km²,km2 | kilómetro cuadrado | kilómetros cuadrados
m²,m2 | metro cuadrado | metros cuadrados
cm²,cm2 | centímetro cuadrado | centímetros cuadrados
m³,m3 | metro cúbico | metros cúbicos
cm³,cm3 | centímetro cúbico | centímetros cúbicos
kg,Kg,kgs | kilogramo | kilogramos
g,gr | gramo | gramos
mg | miligramo | miligramos
µg,μg | microgramo | microgramos
t | tonelada | toneladas | f
lb,lbs | libra | libras | f
oz | onza | onzas | f
l,L | litro | litros
ml,mL | mililitro | mililitros
cl | centilitro | centilitros
dl | decilitro | decilitros
km/h | kilómetro por hora | kilómetros por hora
m/s | metro por segundo | metros por segundo
h,hs,hrs | hora | horas | f
min,min.,mins | minuto | minutos
s,seg,seg. | segundo | segundos
ms | milisegundo | milisegundos
µs,μs | microsegundo | microsegundos
Hz | hercio | hercios
kHz | kilohercio | kilohercios
MHz | megahercio | megahercios
GHz | gigahercio | gigahercios
W | vatio | vatios
kW | kilovatio | kilovatios
MW | megavatio | megavatios
GW | gigavatio | gigavatios
kWh | kilovatio hora | kilovatios hora
V | voltio | voltios
kV | kilovoltio | kilovoltios
A | amperio | amperios
mA | miliamperio | miliamperios
mAh | miliamperio hora | miliamperios hora
Ω | ohmio | ohmios
KB,kB | kilobyte | kilobytes
MB | megabyte | megabytes
GB | gigabyte | gigabytes
TB | terabyte | terabytes
kbps | kilobit por segundo | kilobits por segundo
Mbps,Mbit/s,Mb/s | megabit por segundo | megabits por segundo
Gbps,Gbit/s | gigabit por segundo | gigabits por segundo
dB | decibelio | decibelios
cal | caloría | calorías | f
kcal | kilocaloría | kilocalorías | f
kJ | kilojulio | kilojulios
hPa | hectopascal | hectopascales
ha | hectárea | hectáreas | f
px | píxel | píxeles
°C,° C,ºC,℃ | grado Celsius | grados Celsius
°F,° F,ºF,℉ | grado Fahrenheit | grados Fahrenheit
° | grado | grados
′ | pie | pies
″ | pulgada | pulgadas | f
mes | mes | meses
`

const currencies = `
EUR | euro | euros | céntimo | céntimos
USD | dólar | dólares | centavo | centavos
GBP | libra | libras | penique | peniques | f
JPY | yen | yenes
CHF | franco suizo | francos suizos | céntimo | céntimos
CAD | dólar canadiense | dólares canadienses | centavo | centavos
AUD | dólar australiano | dólares australianos | centavo | centavos
NZD | dólar neozelandés | dólares neozelandeses | centavo | centavos
HKD | dólar de Hong Kong | dólares de Hong Kong | centavo | centavos
SGD | dólar de Singapur | dólares de Singapur | centavo | centavos
CNY | yuan | yuanes | fen | fen
INR | rupia | rupias | paisa | paisas | f | f
RUB | rublo | rublos | kopek | kopeks
KRW | won | wones
TRY | lira | liras | kurus | kurus | f
UAH | grivna | grivnas | kopek | kopeks | f
ILS | séquel | séqueles | agora | agorot | m | f
THB | baht | bahts | satang | satang
VND | dong | dongs
NGN | naira | nairas | kobo | kobos | f
PHP | peso filipino | pesos filipinos | centavo | centavos
GHS | cedi | cedis | pesewa | pesewas
KZT | tenge | tenges | tiyn | tiyn
AZN | manat | manats | qepik | qepik
GEL | lari | laris | tetri | tetri
CRC | colón | colones | céntimo | céntimos
PYG | guaraní | guaraníes
MNT | tugrik | tugriks
BTC | bitcoin | bitcoins
SEK | corona | coronas | öre | öre | f
NOK | corona noruega | coronas noruegas | öre | öre | f
DKK | corona danesa | coronas danesas | öre | öre | f
PLN | zloty | zlotys | grosz | groszy
CZK | corona checa | coronas checas | heller | hellers | f
HUF | forinto | forintos
RON | leu | lei | ban | bani
BGN | lev | levs | stotinka | stotinki | m | f
MXN | peso mexicano | pesos mexicanos | centavo | centavos
BRL | real | reales | centavo | centavos
ARS | peso argentino | pesos argentinos | centavo | centavos
CLP | peso chileno | pesos chilenos
COP | peso colombiano | pesos colombianos | centavo | centavos
PEN | sol | soles | céntimo | céntimos
ZAR | rand | rands | centavo | centavos
SAR | riyal | riyales | halala | halalas | m | f
AED | dírham | dírhams | fils | fils
EGP | libra egipcia | libras egipcias | piastra | piastras | f | f
MAD | dírham marroquí | dírhams marroquíes | céntimo | céntimos
KES | chelín keniano | chelines kenianos | centavo | centavos
MYR | ringgit | ringgits | sen | sen
IDR | rupia indonesia | rupias indonesias | f
CENT | céntimo | céntimos
`

const scales = `
M,mill.,mm | millón | millones
mil | mil | mil
`

const signs = `
× | por
÷ | dividido entre
± | más menos
− | menos
= | igual a
≤ | como máximo
≥ | como mínimo
≠ | distinto de
≈ ∼ ≃ | aproximadamente
≡ | idéntico a
< | menor que
> | mayor que
≪ | mucho menor que
≫ | mucho mayor que
→ ⇒ ➜ ➡ ⟶ | a
← ⇐ | desde
↔ ⇔ | ida y vuelta
↑ | arriba
↓ | abajo
∞ | infinito
√ | raíz cuadrada de
∛ | raíz cúbica de
∑ | suma de
∫ | integral de
∂ | parcial
∆ | delta
∈ | en
∧ | y
∨ | o
¬ | no
⌀ | diámetro
‱ | por diez mil
% ﹪ ％ | por ciento
‰ | por mil
⁺ | más
⁻ | menos
§ | sección
¶ | párrafo
№ | número
& ＆ | y
@ | arroba
# | almohadilla
+ | más
* | asterisco
^ | elevado a
_ | guion bajo
\\ | barra invertida
~ | aproximadamente
© | copyright
® | marca registrada
™ | marca comercial
℗ | copyright
† ‡ | nota
° | grados
º | o
ª | a
♯ | sharp
✓ ✔ ✅ ☑ | sí
❌ ✖ ✗ ✘ | no
µ | micro
Ω Ω | ohmios
/ ⁄ ∕ | barra
`

const addressSigns = `
. | punto
@ | arroba
- | guion
_ | guion bajo
/ | barra
: | dos puntos
? | interrogación
= | igual
& | y
# | almohadilla
% | por ciento
+ | más
~ | tilde
, | coma
; | punto y coma
! | exclamación
* | asterisco
$ | dólar
( | abre paréntesis
) | cierra paréntesis
' | apóstrofo
\\ | barra invertida
`

const abbreviations = `
p.ej. P.ej. | por ejemplo
etc. | etcétera.
Sr. sr. | señor
Sra. sra. | señora
Srta. srta. | señorita
Sres. | señores
Dr. | doctor
Dra. | doctora
D. | don
Dña. Da. | doña
Prof. | profesor
Profa. | profesora
Lic. | licenciado
Ing. | ingeniero
Arq. | arquitecto
Gral. | general
Ud. Vd. | usted
Uds. Vds. | ustedes
EE.UU. EEUU | Estados Unidos.
RR.HH. | recursos humanos.
Avda. Av. | avenida
C/ c/ | calle
Pza. Plza. | plaza
Ctra. | carretera
Apdo. | apartado
Dpto. Depto. | departamento
núm. Núm. nro. Nro. | número
No. | número
pág. Pág. | página
págs. | páginas
cap. Cap. | capítulo
art. Art. | artículo
fig. Fig. | figura
vol. | volumen
ed. | edición
tel. Tel. tfno. Tfno. teléf. | teléfono
ext. Ext. | extensión
aprox. | aproximadamente
máx. | máximo
mín. | mínimo
incl. | incluido
c.c. cc. | centímetros cúbicos
a.C. | antes de Cristo.
d.C. | después de Cristo.
vs. | contra
Cía. | compañía.
S.A. | sociedad anónima.
S.L. | sociedad limitada.
p.d. P.D. | posdata
c/u | cada uno
s/n | sin número
izq. izqda. | izquierda.
dcha. dcho. | derecha.
Sto. | santo
Sta. | santa
Mtro. | maestro
`

export const es: Language = {
  tag: 'es',
  decimalMark: ',',
  groupMarks: ". \\u00a0\\u202f'’",
  isAscii: false,
  phrases: {
    minus: 'menos',
    plus: 'más',
    to: 'a',
    point: 'coma',
    dot: 'punto',
    per: 'por',
    number: 'número',
    hashtag: 'hashtag',
    squared: 'al cuadrado',
    cubed: 'al cubo',
    power: 'elevado a',
    foreign: 'palabra extranjera',
    sign: 'símbolo',
    extension: 'extensión',
    and: 'y',
    or: 'o',
    ofScale: (scale, noun) => (scale === 'mil' ? `mil ${noun}` : `${scale} de ${noun}`),
    money: (major, { amount }) => `${major} con ${amount}`,
    letters: (letters) => letters.join(' '),
  },
  cardinal,
  decimals: (digits) => decimalsAsNumber(digits, cardinal),
  year: cardinal,
  phoneGroup: (digits) => [...digits].map((digit) => cardinal(digit)).join(' '),
  fraction,
  mixed,
  genderOf,
  units: nounsOf(units),
  currencies: currenciesOf(currencies),
  scales: nounsOf(scales),
  signs: wordsOf(signs),
  addressSigns: wordsOf(addressSigns),
  abbreviations: wordsOf(abbreviations),
  codeWords: 'código|pin|clave|contraseña|marque|marcar|pulse|pulsar|extensión|vuelo|terminada en|termina en',
  versionWord: 'versión',
  rules: spanishRules,
}
