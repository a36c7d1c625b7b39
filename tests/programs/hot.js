// Two functions that the compiler makes code of; hotFunction's loop turns three times as often.
function hotFunction(n) {
    let x = 0;
    for (let i = 0; i < n; i++) x = (x * 31 + i) | 0;
    return x;
}
function coolFunction(n) {
    let x = 0;
    for (let i = 0; i < n; i++) x = (x * 31 + i) | 0;
    return x;
}
let sum = 0;
for (let i = 0; i < 200; i++) sum = (sum + hotFunction(30000) + coolFunction(10000)) | 0;
console.log(sum);
