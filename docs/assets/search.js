// What is typed is searched as it is: an option (--strict-loss) and a message (error[STD302]: …) would
// be taken for the syntax of a query, and a mistake in it. A message with a code leads to the code.
// Material's messages of type 2 are queries.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
  const query = message?.type === 2 && typeof message.data === "string";
  const plain = (text) =>
    text.match(/\b[A-Z]{3}\d{3}\b/)?.[0] ?? text.replace(/(^|\s)-+|[:~^*+]+/g, " ");
  post.call(this, query ? { ...message, data: plain(message.data) } : message, ...others);
};
