import { checkEveryday } from './check.ts'

checkEveryday('es', {
  beginnings: `
    El número es el cinco cinco
    Es el 91 4
    Mi número es 55 12 34
    El teléfono es nueve uno
    El número de la tarjeta es 4929
    Tarjeta número 4929
    Me apellido Nguyen, N G U
    N de Navarra
    N de Navarra, G de Gerona
    Con doble ele
    Con B de burro
    Mi correo es sam punto
    sam punto lee arroba
    El correo es sam arroba gmail punto
    La calle es
    ¿Podría por favor
    ¿Sería tan amable de
    Quería
    Quería saber si
    Me gustaría saber
    ¿Me puede decir si
    ¿Cuánto
    ¿A qué hora
    Tengo
    Tengo que
    Un ratito
    Un momentito por favor
    Deme un segundo
    Deme un momento
    Estoy buscando
    Déjeme ver
    Ahora mismo se lo digo
    Mmm
    Eeeh
    Pues mire
    Es que
    O sea, que
    El número de reserva es A B
    La matrícula es B C
    Mi cumpleaños es el 3 de
    Nací el 4 de
    Mi extensión es
    Y luego
    Creo que
    Creo que era el
    Entre
    Buenos días, mi nombre es
    Llamo porque
    Quería preguntar si`,
  sentences: `
    Quiero cancelar mi cita.
    Me llamo Juan Pérez.
    Vivo en la calle Mayor 12.
    A las tres de la tarde.
    Tengo dos hijos.
    Fue en 2019.
    Tengo 35 años.
    Muchas gracias.
    Me viene bien.
    No, eso es todo.
    Sí, es correcto.
    ¿Cuál es el horario?
    El lunes a las nueve y media.
    Dos pizzas por favor
    Mi pedido no ha llegado.
    Quiero hablar con una persona.
    Nada más, gracias.
    Quince.
    Cinco.
    Sí, lo hago.
    Ni idea.
    Es para mi madre.
    El 5 de mayo.
    Una mesa para seis.
    Mañana por la mañana
    Sí, ese es mi número.
    Me parece bien.
    Llamé ayer.
    Habitación 204.
    El precio era 49,99.
    Esperé una hora.
    20 euros.
    El día doce.
    La verdad es que no.
    Espero desde el lunes.
    Soy cliente nuevo.
    Hola.
    Buenos días.
    He olvidado mi PIN.
    ¿Puedo pagar con tarjeta?
    Mi móvil está roto.
    Somos cuatro.
    Uno o dos.
    Sí, puedo.
    No tengo.
    Se me olvidó.
    ¿Quién es?
    Creo que sí.
    Gracias, adiós.
    Eso no puede ser.
    ¿Cómo está?
    Bien, ¿y usted?
    Llámeme, por favor.
    Estoy de acuerdo.
    Me da igual.
    No le entiendo.
    Mándemelo.
    Lo quiero.
    Claro que sí
    Como quiera.
    Así es.
    Que sí.
    Ya está.
    No le puedo decir.
    Eso no lo sé.
    Mi coche está roto.
    La respuesta es no.
    Mi hijo tiene cinco.
    La dirección es correcta.
    Nací en 1980.
    No quiero nada.
    Le llamo luego.
    Hasta luego.
    Hasta mañana.
    Habitación doble.
    Busco piso.
    No le conozco.
    Tengo una.
    Lo siento.
    Dígamelo.
    Me quedo con los dos.
    Vengo a las 10.
    Ese es mi nombre.
    Tengo dos.
    Son cuatro.
    Supongo.
    Está bien.
    El primero.
    La primera.
    Es para llevar.
    Yo también.
    Ya lo sé.
    Se lo digo.
    No importa.
    Estaba cerrado.
    Es lunes.
    Dos noches.
    Cuando quiera.
    Soy yo.
    Aquí.
    Es mío.`,
})
